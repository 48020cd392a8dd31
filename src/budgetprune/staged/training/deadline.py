"""`Deadline`: how much time is left."""

from __future__ import annotations

import time

import numpy as np


class Deadline:
    """A limit of time.

    Parameters
    ----------
    seconds : float, or None
        From now on; None: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = np.inf if seconds is None else time.monotonic() + seconds

    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.left() <= 0

    def left(self) -> float:
        """Seconds that are left, perhaps infinitely many."""
        return self._end - time.monotonic()

    def share(self, part: float) -> Deadline:
        """Return a deadline that leaves the other part of the time to what comes after."""
        left = self.left()
        return Deadline(None if left == np.inf else part * max(left, 0.0))
