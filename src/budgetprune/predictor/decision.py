"""What comes back: `Decision` for one example, `Simulation` for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Decision:
    """What is known about one example, and whether that is enough.

    Attributes
    ----------
    label : a label, or a number for regression
        The final one if `decided`; else the best guess, from where the trees stand.
    probabilities : float64 array of shape (n_classes,), or None for regression
        Exactly those of the plain forest if ``reason == "complete"``; else a guess between the bounds.
    lower, upper : float64 arrays of shape (n_classes,), or (1,) for regression
        Between them are the probabilities (the target) that all features together would give.
    cost : float
        Of what was acquired.
    acquired : tuple of str
        Sources that were paid for, in this order; with `step`, also those without a price that it is told of.
    decided : bool
    reason : str
        ``"certain"``: nothing else can change the label (regression: the target by more than the tolerance).
        ``"slack"``: the same, but for the slack. ``"stopped"``: more is not worth its price (staged models).
        ``"complete"``: no tree waits for anything.
        ``"waiting"``: for `next`. ``"max_cost"``: no source that is of use fits into what is left.
        ``"unavailable"``: all that is of use is unavailable.
    next : str or None
        The source to acquire next, if it is not decided and there is one.
    next_cost : float
        What it costs: 0 if it was paid for already, but has not given all values.
    """

    label: Any
    probabilities: NDArray[np.float64] | None
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    cost: float
    acquired: tuple[str, ...]
    decided: bool
    reason: str
    next: str | None = None
    next_cost: float = 0.0


@dataclass(frozen=True, eq=False)
class Simulation:
    """What rows would have acquired, had their values been asked for one after the other.

    Attributes
    ----------
    label : array of shape (n_rows,)
        Labels, or targets for regression.
    cost : float64 array of shape (n_rows,)
        Of what each row acquired: its *decided cost*.
    acquired : bool array of shape (n_rows, n_sources)
        Sources that each row paid for.
    decided : bool array of shape (n_rows,)
        False where `max_cost` came first.
    probabilities : float64 array of shape (n_rows, n_classes), or None for regression
        From where the trees stood in the end: those of the plain forest for a row that acquired all it could
        have needed, else a guess.
    """

    label: NDArray[Any]
    cost: NDArray[np.float64]
    acquired: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    probabilities: NDArray[np.float64] | None

    def __repr__(self) -> str:
        return (
            f"Simulation({self.cost.size} rows, mean cost {self.cost.mean():.4g}, "
            f"{self.decided.mean():.1%} decided)"
        )
