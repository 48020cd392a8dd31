"""What comes back: `Decision` for one example, `Simulation` for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from budgetprune.forest import Forest
from budgetprune.predictor._aim import EPSILON, rounding_error

TINY = float(np.finfo(np.float64).tiny)


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
        ``"slack"``: the same, but for the slack. ``"complete"``: no tree waits for anything.
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
    """

    label: NDArray[Any]
    cost: NDArray[np.float64]
    acquired: NDArray[np.bool_]
    decided: NDArray[np.bool_]

    def __repr__(self) -> str:
        return (
            f"Simulation({self.cost.size} rows, mean cost {self.cost.mean():.4g}, "
            f"{self.decided.mean():.1%} decided)"
        )


class Bounds:
    """From bounds of sums over trees to bounds of probabilities or targets, safe against rounding."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._guard = rounding_error(forest)
        # An average of shares is a share; sums of them are rounded to nothing beyond.
        self._are_shares = (
            forest.is_classifier
            and forest.link == "identity"
            and not forest.base.any()
            and forest.divisor >= forest.n_trees
            and forest.value.min() >= 0
            and forest.value.max() <= 1
        )

    def __call__(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds of the probabilities of all classes, or of the target, from bounds of the sums."""
        forest = self._forest
        low, high = (lower - self._guard) / forest.divisor, (upper + self._guard) / forest.divisor
        if self._are_shares:
            return np.maximum(low, 0.0), np.minimum(high, 1.0)
        if forest.link == "identity":
            return low, high
        if forest.link == "exp":
            with np.errstate(over="ignore"):  # to infinity, which bounds all
                low, high = np.exp(low), np.exp(high)
        elif forest.link == "logistic":
            low, high = expit(np.append(-high, low)), expit(np.append(-low, high))
        else:
            low, high = _softmax_bounds(low, high), _softmax_bounds(high, low)
        # Links are computed with rounding errors of their own.
        return low * (1 - 16 * EPSILON), high * (1 + 16 * EPSILON)


def _softmax_bounds(own: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of each class if it has its `own` score, and all the others have theirs."""
    if own.size == 1:
        return np.ones(1)
    rivals = [logsumexp(np.delete(others, k)) for k in range(own.size)]
    probability: NDArray[np.float64] = expit(own - rivals)
    return probability


def between(
    guess: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Move probabilities between their bounds, so that they still add up to 1."""
    kept = np.minimum(np.maximum(guess, lower), upper)
    lacking = guess.sum() - kept.sum()
    if lacking == 0:
        return kept
    room = upper - kept if lacking > 0 else kept - lower
    moved: NDArray[np.float64] = kept + lacking * room / max(room.sum(), TINY)
    return moved
