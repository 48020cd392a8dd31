"""Prediction results: `Decision` for one example, `Simulation` for many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Decision:
    """Prediction for one example from the values known so far.

    Attributes
    ----------
    label : a label, or a number for regression
        The final label if `decided`; else the best guess, from the current nodes of the trees. If sources are
        unavailable and no other is useful, both sides of each test of an unknown value are averaged with
        their training weights, so that all known values count.
    probabilities : float64 array of shape (n_classes,), or None for regression
        Exactly those of the plain forest if ``reason == "complete"``; else a guess between the bounds.
    lower, upper : float64 arrays of shape (n_classes,), or (1,) for regression
        Bounds of the probabilities (of the target) that all features together would give.
    cost : float
        Cost of the acquired sources.
    acquired : tuple of str
        Paid sources, in order; with `step`, also the free sources passed to it.
    decided : bool
    reason : str
        ``"certain"``: further values cannot change the label (regression: the target by more than the
        tolerance). ``"slack"``: the same, up to the slack. ``"stopped"``: further sources are not worth their
        price (staged models). ``"complete"``: no tree waits for a source.
        ``"waiting"``: the value of `next` is needed. ``"max_cost"``: no useful source fits into the
        remaining cost limit. ``"unavailable"``: all useful sources are unavailable.
    next : str or None
        The source to acquire next, if the example is not decided and there is one.
    next_cost : float
        Price of that source: 0 if it was paid for already, but did not return all values.
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
    """Simulated acquisition for many rows, one source at a time.

    Attributes
    ----------
    label : array of shape (n_rows,)
        Labels, or targets for regression.
    cost : float64 array of shape (n_rows,)
        Cost of the sources that each row acquired: its *decided cost*.
    acquired : bool array of shape (n_rows, n_sources)
        Sources that each row paid for.
    decided : bool array of shape (n_rows,)
        False where `max_cost` was reached first.
    probabilities : float64 array of shape (n_rows, n_classes), or None for regression
        From the last nodes reached: those of the plain forest for a row that acquired all needed sources,
        else a guess.
    expected_error : float64 array of shape (n_rows,), or None
        Regression with a staged model: the squared error that is expected where each row stops.
    """

    label: NDArray[Any]
    cost: NDArray[np.float64]
    acquired: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    probabilities: NDArray[np.float64] | None
    expected_error: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return (
            f"Simulation({self.cost.size} rows, mean cost {self.cost.mean():.4g}, "
            f"{self.decided.mean():.1%} decided)"
        )
