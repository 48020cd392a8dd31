"""From bounds of sums over trees to bounds of scores, and of probabilities or targets."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from budgetprune.forest import Forest
from budgetprune.predictor._aim import EPSILON, Aim, rounding_error
from budgetprune.predictor._kernels import COMPLETE, Told, bound
from budgetprune.predictor._tables import Trees, trees_of

TINY = float(np.finfo(np.float64).tiny)


class Both(NamedTuple):
    """The only direction is a sum of two scores with weights; what the scores themselves add up to."""

    first: float
    second: float
    least_sum: float
    most_sum: float


class Outlook:
    """What the sums over trees say about probabilities or targets, and about their bounds.

    Bounds are safe against rounding.
    """

    def __init__(self, forest: Forest, aim: Aim) -> None:
        self._forest, self._aim = forest, aim
        self._guard = rounding_error(forest)
        self._both = None if aim.weights is None else _both(forest, *aim.weights)
        # An average of shares is a share; sums of them are rounded to nothing beyond.
        self._are_shares = (
            forest.is_classifier
            and forest.link == "identity"
            and not forest.base.any()
            and forest.divisor >= forest.n_trees
            and forest.value.min() >= 0
            and forest.value.max() <= 1
        )

    @cached_property
    def trees(self) -> Trees:
        """The same trees, with scores as directions."""
        forest = self._forest
        return trees_of(forest, forest.value, forest.tree_output, forest.base)

    def __call__(
        self, row: NDArray[Any], told: Told
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Probabilities where the trees stand (targets for regression), and bounds of the final ones."""
        forest, is_complete = self._forest, told.why == COMPLETE
        if self._are_shares:
            bounds = told.bounds if is_complete else self._score_bounds(row, told)
            found: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
            found = shares_between(told.scores, bounds, is_complete, self._guard, forest.divisor)
            return found
        scores = told.scores[np.newaxis] / forest.divisor
        now = forest.probabilities(scores)[0] if forest.is_classifier else forest.answers(scores)
        if is_complete:
            return now, now.copy(), now.copy()
        low, high = self._linked(*self._score_bounds(row, told))
        return (between(now, low, high) if forest.is_classifier else now), low, high

    def _score_bounds(self, row: NDArray[Any], told: Told) -> NDArray[np.float64]:
        """Bounds of the scores, not divided, of shape (2, n_outputs).

        Where the only direction is a combination of two scores, these are bounded by themselves, unless they
        always add up to the same: then one follows from the other.
        """
        if self._aim.weights is None:
            return told.bounds[:, : self._forest.n_outputs]
        found: NDArray[np.float64]
        if self._both is None:
            found = bound(row, told.known, self.trees, self._aim.rule)
        else:
            found = bounds_of_both(told.bounds, *self._both)
        return found

    def _linked(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds of the probabilities of all classes, or of the target, from bounds of the sums."""
        forest = self._forest
        low, high = (lower - self._guard) / forest.divisor, (upper + self._guard) / forest.divisor
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


def _both(forest: Forest, first: float, second: float) -> Both | None:
    """How two scores follow from one direction, if their sum is the same for all rows but for rounding."""
    if not np.all(forest.tree_output < 0):
        return None
    at_leaves, start = np.where(forest.is_split, np.nan, forest.value.sum(axis=1)), forest.tree_start[:-1]
    least = float(np.fmin.reduceat(at_leaves, start).sum() + forest.base.sum())
    most = float(np.fmax.reduceat(at_leaves, start).sum() + forest.base.sum())
    return Both(first, second, least, most) if most - least <= rounding_error(forest) else None


def _softmax_bounds(own: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of each class if it has its `own` score, and all the others have theirs."""
    if own.size == 1:
        return np.ones(1)
    rivals = [logsumexp(np.delete(others, k)) for k in range(own.size)]
    probability: NDArray[np.float64] = expit(own - rivals)
    return probability


# --- Arrays with an entry per class: so short that calls of numpy take longer than what they do -------------


@njit(cache=True)
def bounds_of_both(
    bounds: NDArray[np.float64], first: float, second: float, least_sum: float, most_sum: float
) -> NDArray[np.float64]:
    """Bounds of two scores from those of the direction that combines them; see `Both`."""
    least, most = bounds[0, 0], bounds[1, 0]
    found = np.empty((2, 2))
    found[0, 0], found[0, 1] = second * least_sum - most, least - first * least_sum
    found[1, 0], found[1, 1] = second * most_sum - least, most - first * most_sum
    return found / (second - first)


@njit(cache=True)
def shares_between(
    scores: NDArray[np.float64], bounds: NDArray[np.float64], is_complete: bool, guard: float, divisor: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Averages that are not below 0 nor above 1, and their bounds, from sums and theirs."""
    shares = scores / divisor
    if is_complete:
        return shares, shares.copy(), shares.copy()
    low = np.maximum((bounds[0] - guard) / divisor, 0.0)
    high = np.minimum((bounds[1] + guard) / divisor, 1.0)
    return between(shares, low, high), low, high


@njit(cache=True)
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
