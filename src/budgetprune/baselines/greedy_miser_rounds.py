"""Gradient boosting rounds with cost-aware trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.binning import Bins, find_bins
from budgetprune.baselines.grower import GrownTree, grow_tree
from budgetprune.baselines.grower_forest import ValidatedRows, combine_trees
from budgetprune.baselines.grower_inputs import Prices, SplitCriterion, TreeSample
from budgetprune.costs import CostTable
from budgetprune.forest import LABEL_RULES, Forest, sum_of_leaves
from budgetprune.losses import find_loss
from budgetprune.problem import NewtonSums, split_gains

# Lower bound of the curvature: limits the steps of rows with probabilities near 0 or 1.
_LEAST_CURVATURE = 1e-6

_NO_TABLE = np.empty(0)


class BoostingProblem(NamedTuple):
    """Boosting problem: loss, targets and initial scores.

    Attributes
    ----------
    loss : loss to minimise
    target : class index of each row, or for regression its target
    base : the score of each output before the first tree
    classes : array, or None for regression
    """

    loss: str
    target: NDArray[Any]
    base: NDArray[np.float64]
    classes: NDArray[Any] | None


class NewtonSteps(NamedTuple):
    """Node values: Newton steps times the learning rate."""

    learning_rate: float
    n_outputs: int

    def of(self, sums: NDArray[np.float64], curvature: NDArray[np.float64]) -> NDArray[np.float64]:
        """Value of each node, from sums of weights, weighted residuals and weighted curvatures.

        Scores of several classes have one degree of freedom too many, which makes a step too long by that.
        """
        share = (self.n_outputs - 1) / self.n_outputs if self.n_outputs > 1 else 1.0
        steepness = np.maximum(curvature, _LEAST_CURVATURE * sums[:, 0])
        answer: NDArray[np.float64] = self.learning_rate * share * sums[:, 1] / steepness
        return answer


def boost(
    problem: BoostingProblem,
    rows: ValidatedRows,
    costs: CostTable,
    criterion: SplitCriterion,
    max_bins: int,
    learning_rate: float,
    n_rounds: int,
    random: np.random.RandomState,
) -> Forest:
    """Grow one tree per output and round, each on the residuals of all earlier rounds."""
    n_outputs = problem.base.size
    steps = NewtonSteps(learning_rate, n_outputs)
    X, target, weight = rows.X, problem.target, np.ones(len(rows.X))
    if rows.weight is not None:
        counts = rows.weight > 0
        X, target, weight = X[counts], target[counts], rows.weight[counts]
    bins, prices = find_bins(X, max_bins), Prices.of(costs)
    scores = np.tile(problem.base, (weight.size, 1))
    trees: list[GrownTree] = []
    at_leaves: list[NDArray[np.float64]] = []  # curvature of the loss, per tree
    for _ in range(n_rounds):
        slope = find_loss(problem.loss).derivatives(scores, target)
        for k in range(n_outputs):
            sample = TreeSample.of_target(-slope.gradient[:, k], weight)
            tree = grow_tree(
                bins, sample, prices, criterion, _NO_TABLE, random.randint(1, np.iinfo(np.int32).max)
            )
            of_rows = weight * slope.curvature[:, k]
            curvature = np.bincount(tree.leaf, of_rows, tree.feature.size).astype(np.float64, copy=False)
            scores[:, k] += steps.of(tree.sums, curvature)[tree.leaf]
            trees.append(tree.without_rows())
            at_leaves.append(curvature)
    forest, sums = _forest_of(problem, trees, np.concatenate(at_leaves), bins, steps)
    return replace(forest, split_gain=split_gains(forest, sums) / weight.sum())


def _forest_of(
    problem: BoostingProblem,
    trees: list[GrownTree],
    at_leaves: NDArray[np.float64],
    bins: Bins,
    steps: NewtonSteps,
) -> tuple[Forest, NewtonSums]:
    """Make a forest of the trees, and sum the derivatives of the loss at all of its nodes."""
    combined = combine_trees(trees, bins)
    sums = combined.table["sums"]
    curvature = sum_of_leaves(combined.fields["right"], at_leaves[combined.order, np.newaxis])[:, 0]
    n_outputs = problem.base.size
    link: Any = find_loss(problem.loss).link
    label_rule: Any = LABEL_RULES[link][0]
    forest = Forest(
        **combined.fields,
        value=steps.of(sums, curvature)[:, np.newaxis],
        weight=sums[:, 0],
        class_weight=None,
        tree_output=np.tile(np.arange(n_outputs), len(trees) // n_outputs),
        tree_round=np.repeat(np.arange(len(trees) // n_outputs), n_outputs),
        base=problem.base,
        divisor=1.0,
        loss=problem.loss,
        link=link,
        label_rule=label_rule,
        classes=problem.classes,
        origin=None,
    )
    return forest, NewtonSums(-sums[:, 1:], curvature[:, np.newaxis])
