"""Values of XGBoost's inner nodes and gains of its splits, derived from its records.

Of a node with gradient sum G and hessian sum H, XGBoost records H; at a split also the best value without
shrinkage, w = -G / (H + l), and the gain, G^2 / (H + l) of both children minus that of the node; at a leaf
also its value, v = eta w. A saved model lacks the shrinkage eta and the penalty l, but since
G^2 / (H + l) = w^2 (H + l), the gains of all splits of a tree add up to

    sum over leaves of (v / eta)^2 (H + l)  -  w^2 (H + l) of the root,

which gives eta of each tree (learning rates may change between rounds, and trees of one round share one). And
a node's G is the sum of its children's, which gives l. Both equations then hold at every split, unless the
tree's values are not plain Newton steps (constraints, capped steps, refitted leaves).
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.adapters.xgboost.model import SavedModel
from budgetprune.forest.topology_kernels import mean_of_leaves

# Records are in single precision: errors of rounding are far smaller than this, other deviations larger.
_TOLERANCE = 1e-4

Array = NDArray[np.float64]


class Records(NamedTuple):
    """XGBoost's records of each node, trees in pre-order."""

    tree_start: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    answer: Array  # v, at leaves
    optimum: Array  # w, at splits
    hessian: Array  # H
    gain: Array  # at splits

    @property
    def is_split(self) -> NDArray[np.bool_]:
        return np.asarray(self.left >= 0)

    def per_tree(self, of_node: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        return np.asarray(combine.reduceat(of_node, self.tree_start[:-1]))


class Growth(NamedTuple):
    """Training parameters inferred from the records."""

    shrinkage: Array  # eta of each tree, NaN for a single leaf
    gradient: Array  # G of each node
    explains_values: NDArray[np.bool_]  # of each tree: whether gains follow from values
    explains_gradients: bool  # whether the gradient of every split is the sum of its children's


def recover_growth(records: Records, saved: SavedModel) -> Growth:
    """Find the penalty and shrinkage that explain the records, or those that explain most trees."""
    # A model that was loaded from a file reports defaults for its training parameters.
    config = json.loads(saved.booster.save_config())["learner"]["gradient_booster"]
    reported = _grown_with(records, float(config["tree_train_param"]["lambda"]))
    if reported.explains_gradients and reported.explains_values.all():
        return reported
    estimated = _grown_with(records, _penalty(records))
    is_better = estimated.explains_values.sum() > reported.explains_values.sum()
    return estimated if is_better else reported


def node_values(records: Records, growth: Growth) -> Array:
    """Value of each node, of shape (n_nodes,): shrunken optima, or means of leaves if these do not fit."""
    n_nodes = np.diff(records.tree_start)
    factor = np.repeat(growth.shrinkage, n_nodes)
    is_explained = np.repeat(growth.explains_values, n_nodes)
    mean = mean_of_leaves(records.right, records.answer[:, np.newaxis], records.hessian)[:, 0]
    return np.where(records.is_split & is_explained, factor * records.optimum, mean)


def recorded_gains(
    records: Records, growth: Growth, saved: SavedModel, value: Array, first_output: int
) -> Array | None:
    """Decrease of the training loss by each split, per unit of training weight; None if unknown.

    XGBoost records gains of full steps, penalised, with a curvature that may exceed that of the loss. Here a
    gain is the decrease of G v + H v^2 / 2, as on other rows.

    Parameters
    ----------
    records, growth, saved
    value : value of each node
    first_output : output that the first tree contributes to
    """
    if not (growth.explains_gradients and growth.explains_values.all()):
        return None
    excess = _excess_curvature(saved)
    total = _training_weight(records, growth, saved, first_output, excess)
    if total is None or not np.isfinite(total) or total <= 0:
        return None
    split = np.flatnonzero(records.is_split)
    gain = np.zeros(value.size)
    for child in (records.left[split], records.right[split]):
        # Difference of G v + H v^2 / 2 at both values, factored so that it is exactly 0 where they are equal.
        slope = growth.gradient[child] + records.hessian[child] / excess * (value[split] + value[child]) / 2
        gain[split] += (value[split] - value[child]) * slope
    return gain / total


def _grown_with(records: Records, penalty: float) -> Growth:
    """Infer the other parameters from the penalty, and check that they explain the records."""
    is_split, root = records.is_split, records.tree_start[:-1]
    damped = records.hessian + penalty
    with np.errstate(divide="ignore", invalid="ignore"):
        by_leaves = records.per_tree(np.where(is_split, 0.0, records.answer**2 * damped))
        by_splits = records.per_tree(np.where(is_split, records.gain, 0.0))
        by_splits = by_splits + records.optimum[root] ** 2 * damped[root]
        shrinkage = np.where(is_split[root], np.sqrt(by_leaves / by_splits), np.nan)
        factor = np.repeat(shrinkage, np.diff(records.tree_start))
        optimum = np.where(is_split, records.optimum, records.answer / factor)
    gradient = -optimum * damped
    promise = -optimum * gradient  # G^2 / (H + l)

    split = np.flatnonzero(is_split)
    children = records.left[split], records.right[split]
    gains_fit, gradients_fit = np.ones((2, is_split.size), dtype=np.bool_)
    gains_fit[split] = _agree(promise[split] + records.gain[split], *(promise[child] for child in children))
    gradients_fit[split] = _agree(gradient[split], *(gradient[child] for child in children))
    # The gain of a single split always fits the shrinkage that was inferred from it.
    is_single = np.diff(records.tree_start) == 3
    explains_values = records.per_tree(gains_fit, np.logical_and)
    explains_values &= records.per_tree(gradients_fit, np.logical_and) | ~is_single
    return Growth(shrinkage, gradient, explains_values, bool(gradients_fit.all()))


def _agree(whole: Array, one: Array, other: Array) -> NDArray[np.bool_]:
    """Whether a total is the sum of its parts, up to rounding; False for NaN."""
    size = np.abs(whole) + np.abs(one) + np.abs(other)
    return np.asarray(np.abs(whole - one - other) <= _TOLERANCE * size)


def _penalty(records: Records) -> float:
    """Penalty that best explains gradients where both children are splits too: eta is not needed there."""
    left, right = records.left, records.right
    h = np.flatnonzero((left >= 0) & (left[left] >= 0) & (left[right] >= 0))
    a, b = left[h], right[h]
    w, hessian = records.optimum, records.hessian
    # w (H + l) of the split is the sum of those of its children: linear in l.
    slope = w[h] - w[a] - w[b]
    offset = w[a] * hessian[a] + w[b] * hessian[b] - w[h] * hessian[h]
    squares = float(slope @ slope)
    return max(0.0, float(slope @ offset) / squares) if squares > 0 else 1.0


def _excess_curvature(saved: SavedModel) -> float:
    """Factor by which XGBoost's hessians exceed the second derivatives of the loss, for shorter steps."""
    if saved.objective.loss == "softmax":
        return 2.0
    if saved.objective.loss == "poisson":
        return float(np.exp(float(saved.learner["objective"]["poisson_regression_param"]["max_delta_step"])))
    return 1.0


def _training_weight(
    records: Records, growth: Growth, saved: SavedModel, output: int, excess: float
) -> float | None:
    """Weight of the rows that the first tree was grown on: its hessians are those at the base score.

    If every tree saw a sample of the rows (`subsample`), this is the weight of the first one, and gains are
    sums over samples of about that weight. With a `base_margin` of the rows it is wrong, and so is the base.
    """
    curvature, base = float(records.hessian[0]) / excess, saved.base
    match saved.objective.loss:
        case "squared":
            return curvature
        case "logistic" | "softmax":
            scores = np.append(base, 0.0) if base.size == 1 else base
            probability = np.exp(scores[output] - np.logaddexp.reduce(scores))
            return float(curvature / (probability * (1.0 - probability)))
        case "poisson":
            return float(curvature / np.exp(base[0]))
        case "gamma":  # a row's gradient and hessian add up to its weight
            return float(growth.gradient[0]) + curvature
        case _ if saved.is_ranker:  # pairs of rows have weights; any unit gives the same prunings
            return curvature
        case _:  # not known for other losses
            return None
