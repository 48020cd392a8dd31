"""Decision rules: conditions under which a prediction is certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, label_cut, tie_margin
from budgetprune.predictor.kernels import CUT, LEAD, NARROW
from budgetprune.predictor.state_kernels import StoppingRule
from budgetprune.utils.special import logit

# Definitions of a tree's need, which determines the next source; see `BudgetPredictor`.
Order = Literal["look-ahead", "range", "waiting"]
ORDERS: tuple[Order, ...] = get_args(Order)

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class DecisionRule:
    """Directions in which the scores of a forest are bounded, and the stopping rule.

    A *direction* is a linear function of the scores: the one score of a boosted classifier or of a
    regression, the second class's lead over the first where two classes have a score each, else each class's
    score. Bounds of a lead from its own extremes over leaves are tighter than from those of the two scores.

    Attributes
    ----------
    value : float64 array of shape (n_nodes, n_columns)
    direction : int32 array of shape (n_trees,)
        The direction that a tree adds to, -1 for all.
    base : float64 array of shape (n_directions,)
    weights : two floats, or None
        Weights of both scores in the only direction; None: directions are scores.
    stopping : StoppingRule
    """

    value: NDArray[np.float64]
    direction: NDArray[np.int32]
    base: NDArray[np.float64]
    weights: tuple[float, float] | None
    stopping: StoppingRule


def decision_rule_of(
    forest: Forest, threshold: float | None, tolerance: float | None, order: Order, look_ahead: int
) -> DecisionRule:
    """Build the decision rule of a forest."""
    value, direction, base = forest.value, forest.tree_output, forest.base
    cut, weights = (0.0, 0.0), (-1.0, 1.0)
    guard = rounding_error(forest)
    if forest.classes is None:
        kind = NARROW
    elif forest.classes.size == 2 and threshold is not None and forest.link == "identity":
        kind, cut, weights = CUT, (threshold, threshold), (0.0, 1.0)
    elif forest.classes.size == 2:
        kind = CUT
        if threshold is not None:
            # From probabilities to scores; between the two cuts, the probability itself must be computed.
            low, high = logit(threshold * (1 - 16 * EPSILON)), logit(min(threshold * (1 + 16 * EPSILON), 1.0))
            cut = low, high
        elif forest.link == "logistic":
            cut = label_cut(forest), label_cut(forest)
    else:
        kind = LEAD
    if forest.classes is not None and threshold is None:
        # If rounding may decide the label, the scores themselves must be computed.
        guard += tie_margin(forest, _largest_sum(forest) / forest.divisor) * forest.divisor
    is_combined = kind == CUT and forest.n_outputs == 2
    if is_combined:
        value, base = _combined(forest, weights), np.atleast_1d(base @ weights)
    if base.size == 1:
        direction = np.full(forest.n_trees, -1, dtype=np.int32)
    low, high = cut
    stopping = StoppingRule(
        kind,
        low * forest.divisor - guard,
        high * forest.divisor + guard,
        guard,
        0.0 if tolerance is None else tolerance,
        forest.divisor,
        forest.link == "exp",
        ORDERS.index(order),
        look_ahead,
    )
    return DecisionRule(
        np.ascontiguousarray(value), direction, base, weights if is_combined else None, stopping
    )


def rounding_error(forest: Forest) -> float:
    """Bound the rounding error of two sums over all trees, for any order of summation."""
    return 8 * EPSILON * (forest.n_trees + 4) * _largest_sum(forest)


def _largest_sum(forest: Forest) -> float:
    """Bound the absolute values of sums over all trees."""
    largest = np.maximum.reduceat(np.abs(forest.value).max(axis=1), forest.tree_start[:-1])
    return float(largest.sum() + np.abs(forest.base).sum())


def check_decision_rule(
    forest: Forest, threshold: float | None, tolerance: float | None, order: Order
) -> None:
    """Raise InvalidInputError if the settings are invalid for a forest."""
    if order not in ORDERS:
        raise InvalidInputError(f"order must be one of {', '.join(map(repr, ORDERS))}, not {order!r}.")
    if threshold is not None:
        if forest.classes is None or forest.classes.size != 2:
            n_classes = 0 if forest.classes is None else forest.classes.size
            found = f"there are {n_classes}" if n_classes else "this forest predicts numbers"
            raise InvalidInputError(f"threshold decides between two classes, but {found}.")
        if not 0 <= threshold <= 1:
            raise InvalidInputError(f"threshold must be between 0 and 1, not {threshold!r}.")
    if tolerance is not None:
        if forest.classes is not None:
            raise InvalidInputError(
                "tolerance is for regression; to stop earlier in classification, use slack."
            )
        if not tolerance >= 0:
            raise InvalidInputError(f"tolerance must not be negative, but is {tolerance!r}.")


def _combined(forest: Forest, weights: tuple[float, float]) -> NDArray[np.float64]:
    """Compute the weighted sum of the two scores of a forest, by node."""
    weight = np.array(weights)
    output = forest.tree_output[forest.tree_of_node]
    value = forest.value
    both = value[:, 0] * weight[0] + value[:, -1] * weight[1]  # only used where trees add to both
    return np.ascontiguousarray(np.where(output < 0, both, value[:, 0] * weight[output])[:, np.newaxis])
