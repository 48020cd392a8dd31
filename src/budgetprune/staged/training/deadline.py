"""`Deadline`: time limit of a computation."""

from __future__ import annotations

import time

import numpy as np


class Deadline:
    """Time limit that starts when it is created.

    Parameters
    ----------
    seconds : float, or None
        None: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = np.inf if seconds is None else time.monotonic() + seconds

    def __getstate__(self) -> float:
        # Clocks of other machines start at other times.
        return self.left()

    def __setstate__(self, left: float) -> None:
        self._end = time.monotonic() + left

    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.left() <= 0

    def left(self) -> float:
        """Seconds left; negative after the deadline, infinite without a limit."""
        return self._end - time.monotonic()

    def share(self, part: float) -> Deadline:
        """Return an earlier deadline: a share of the time that is left."""
        left = self.left()
        return Deadline(None if left == np.inf else part * max(left, 0.0))
