"""Bounds of scores, probabilities and targets, from bounds of sums over trees."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.predictor.bounds_kernels import ScorePair, Shares, between, softmax_bounds
from budgetprune.predictor.kernels import COMPLETE, bound
from budgetprune.predictor.rules import EPSILON, DecisionRule, rounding_error
from budgetprune.predictor.state_kernels import BoundedTrees
from budgetprune.predictor.tables import trees_of
from budgetprune.utils.special import expit


class StepResult(NamedTuple):
    """Result of the kernels for one example.

    Attributes
    ----------
    label, why, source : see `decide_or_choose`
    is_certain : whether the label is certain without slack too
    order : acquired sources, in order
    is_wanted : by source: some tree waits for an available feature that needs it
    known : by feature
    scores : sums over the current nodes, by output; not divided
    bounds : of the final sums, by direction, of shape (2, n_directions)
    """

    label: int
    why: int
    source: int
    is_certain: bool
    order: list[int]
    is_wanted: NDArray[np.bool_]
    known: NDArray[np.bool_]
    scores: NDArray[np.float64]
    bounds: NDArray[np.float64]


class ProbabilityBounds:
    """Convert sums over trees to probabilities or targets, and to their bounds.

    Bounds allow for rounding errors.
    """

    def __init__(self, forest: Forest, decision_rule: DecisionRule) -> None:
        self._forest, self._decision_rule = forest, decision_rule
        self._guard = rounding_error(forest)
        self._score_pair = (
            None if decision_rule.weights is None else _score_pair(forest, *decision_rule.weights)
        )
        self._shares = Shares(self._guard, forest.divisor)
        # An average of shares is between 0 and 1, also after rounding.
        self._are_shares = (
            forest.is_classifier
            and forest.link == "identity"
            and not forest.base.any()
            and forest.divisor >= forest.n_trees
            and forest.value.min() >= 0
            and forest.value.max() <= 1
        )

    @cached_property
    def trees(self) -> BoundedTrees:
        """Return the same trees, with scores as directions."""
        forest = self._forest
        return trees_of(forest, forest.value, forest.tree_output, forest.base)

    def __call__(
        self, row: NDArray[Any], result: StepResult
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return probabilities (or targets) at the current nodes, and bounds of the final ones."""
        forest, is_complete = self._forest, result.why == COMPLETE
        if self._are_shares:
            bounds = result.bounds if is_complete else self._score_bounds(row, result)
            return self._shares.between_bounds(result.scores, bounds, is_complete)
        scores = result.scores[np.newaxis] / forest.divisor
        now = forest.probabilities(scores)[0] if forest.is_classifier else forest.answers(scores)
        if is_complete:
            return now, now.copy(), now.copy()
        low, high = self._linked(*self._score_bounds(row, result))
        return (between(now, low, high) if forest.is_classifier else now), low, high

    def _score_bounds(self, row: NDArray[Any], result: StepResult) -> NDArray[np.float64]:
        """Compute bounds of the scores, not divided, of shape (2, n_outputs).

        If the only direction combines two scores, each is bounded separately, unless their sum is constant:
        then one follows from the other.
        """
        if self._decision_rule.weights is None:
            return result.bounds
        if self._score_pair is None:
            return bound(row, result.known, self.trees, self._decision_rule.stopping)
        return self._score_pair.separate(result.bounds)

    def _linked(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute bounds of the class probabilities, or of the target, from bounds of the sums."""
        forest = self._forest
        low, high = (lower - self._guard) / forest.divisor, (upper + self._guard) / forest.divisor
        if forest.link == "identity":
            return low, high
        if forest.link == "exp":
            with np.errstate(over="ignore"):  # infinity is a valid bound
                low, high = np.exp(low), np.exp(high)
        elif forest.link == "logistic":
            low, high = expit(np.append(-high, low)), expit(np.append(-low, high))
        else:
            low, high = softmax_bounds(low, high), softmax_bounds(high, low)
        # Links add rounding errors.
        return low * (1 - 16 * EPSILON), high * (1 + 16 * EPSILON)


def _score_pair(forest: Forest, first: float, second: float) -> ScorePair | None:
    """Derive two scores from one direction, if their sum is constant except for rounding."""
    if not np.all(forest.tree_output < 0):
        return None
    at_leaves, start = np.where(forest.is_split, np.nan, forest.value.sum(axis=1)), forest.tree_start[:-1]
    least = float(np.fmin.reduceat(at_leaves, start).sum() + forest.base.sum())
    most = float(np.fmax.reduceat(at_leaves, start).sum() + forest.base.sum())
    return ScorePair(first, second, least, most) if most - least <= rounding_error(forest) else None
