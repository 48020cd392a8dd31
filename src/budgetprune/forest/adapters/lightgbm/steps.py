"""Base score, inner values and gains, derived from LightGBM's leaves.

The value of a leaf is a shrunken Newton step, v = -eta G / (H + lambda), and the model text has v and H of
every leaf at full precision. So G is known at leaves; its sums at inner nodes give their steps and gains.
These are more accurate than the recorded ones: inner values are rounded to six digits, and gains have
penalties (CEGB, contributions of features) subtracted, and lambda added to H.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.adapters.lightgbm.text import ModelText
from budgetprune.forest.topology_kernels import mean_of_leaves, sum_of_leaves

# Leaves of these objectives are set to a quantile of the residuals after the tree was grown.
RENEWED = ("regression_l1", "quantile", "mape")

# With these settings, leaves are not plain Newton steps: they are regularised, clipped, smoothed or
# constrained.
_PLAIN_STEPS = {
    "lambda_l1": "0",
    "max_delta_step": "0",
    "path_smooth": "0",
    "monotone_constraints": "",
    "use_quantized_grad": "0",
}

# Inner values are written with six digits.
_WRITTEN = 1e-5


class RecordedTrees(NamedTuple):
    """The trees in pre-order, as LightGBM recorded them; arrays have one entry per node."""

    start: NDArray[np.int64]
    right: NDArray[np.int32]
    value: NDArray[np.float64]
    hessian: NDArray[np.float64]
    n_rows: NDArray[np.float64]
    penalty: NDArray[np.float64]  # lambda in the node's step

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        return np.asarray(self.right < 0)

    def spread(self, per_tree: NDArray[np.float64]) -> NDArray[np.float64]:
        """Repeat the values of trees for each of their nodes."""
        return np.repeat(per_tree, np.diff(self.start))


class NodeSteps(NamedTuple):
    """Base score, value of each node without it, and gains of the splits (None if unknown)."""

    base: NDArray[np.float64]
    value: NDArray[np.float64]
    split_gain: NDArray[np.float64] | None


def find_steps(text: ModelText, trees: RecordedTrees, objective: str) -> NodeSteps:
    """Separate the base score from the steps, and give inner nodes values on the scale of the leaves.

    Parameters
    ----------
    text : the model
    trees : its trees in pre-order
    objective : LightGBM's name of the training loss
    """
    # Weight of a leaf in averages: its rows if leaves are medians, else its curvature.
    is_newton = objective not in RENEWED and trees.hessian.any()
    share = trees.hessian + trees.penalty if is_newton else trees.n_rows
    base, shift = _base(text, trees, share)
    recorded = trees.value - trees.spread(shift)
    rate = _rates(text)
    is_plain = is_newton and all(text.parameters.get(key) == usual for key, usual in _PLAIN_STEPS.items())
    if is_plain and rate is not None:
        value, gain = _newton(text, trees, recorded, rate, _curvature(text, objective))
        is_inner = ~trees.is_leaf
        is_inner[trees.start[:-1]] = False  # older versions record nothing at roots
        error = np.abs(value - recorded)[is_inner]
        if np.all(error <= _WRITTEN * np.abs(trees.value[is_inner]) + 1e-9 * np.abs(value).max()):
            return NodeSteps(base, value, gain)
        is_newton = False  # the leaves were changed after training (`refit`, `set_leaf_output`)
    if is_newton:
        return NodeSteps(base, recorded, None)
    return NodeSteps(base, mean_of_leaves(trees.right, recorded[:, np.newaxis], trees.n_rows)[:, 0], None)


def _base(
    text: ModelText, trees: RecordedTrees, share: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Base score of each output, and the share of it in each tree's values.

    LightGBM starts from the best constant and adds it to the values of the first round's trees, or of all
    trees of a random forest; it records 1 as their shrinkage. Gradients sum to 0 at that constant, so it is
    the mean of a first tree's leaves, up to the sampling of rows.
    """
    n_trees, n_outputs = text.shrinkage.size, text.n_outputs
    is_first = np.arange(n_trees) < n_outputs
    has_constant = text.parameters.get("boost_from_average") != "0"
    holds = (
        ((text.is_averaged | is_first) & (text.shrinkage == 1.0)) if has_constant else ~is_first & is_first
    )
    root = trees.start[:-1]
    centre = mean_of_leaves(trees.right, trees.value[:, np.newaxis], share)[root, 0]
    output = np.arange(n_trees) % n_outputs
    n_holding = np.bincount(output, weights=holds, minlength=n_outputs)
    constant = np.bincount(output, weights=centre * holds, minlength=n_outputs) / np.maximum(n_holding, 1)
    # A few bits fewer, so that subtracting the constant from leaves and adding it again is exact.
    fraction, exponent = np.frexp(constant)
    constant = np.ldexp(np.rint(np.ldexp(fraction, 40)), exponent - 40)
    return constant * n_holding, np.where(holds, constant[output], 0.0)


def _rates(text: ModelText) -> NDArray[np.float64] | None:
    """Learning rate of each tree; None if that of the first round, recorded as 1, is unknown."""
    rate = text.shrinkage.copy()
    if text.is_averaged:
        return rate
    first, later = rate[: text.n_outputs], rate[text.n_outputs :]
    is_hidden = first == 1.0
    if is_hidden.any():
        has_splits = np.diff(text.tree_start)[text.n_outputs :] > 1
        known = later[has_splits][:1] if has_splits.any() else [text.parameters.get("learning_rate", np.nan)]
        first[is_hidden] = np.float64(known[0])
    return None if np.isnan(rate).any() else rate


def _curvature(text: ModelText, objective: str) -> float:
    """Share of the recorded second derivative that is the loss's own; some are enlarged for shorter steps."""
    if objective == "multiclass":
        return (text.n_outputs - 1) / text.n_outputs
    if objective == "poisson":
        return float(np.exp(-float(text.parameters["poisson_max_delta_step"])))
    return 1.0


def _newton(
    text: ModelText,
    trees: RecordedTrees,
    step: NDArray[np.float64],
    rate: NDArray[np.float64],
    curvature: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps and gains of all nodes, from the steps and second derivatives of the leaves."""
    at_leaves = np.column_stack([step * (trees.hessian + trees.penalty), trees.hessian])
    scaled, hessian = sum_of_leaves(trees.right, at_leaves).T  # scaled: -eta G
    weight = hessian + trees.penalty
    value = np.where(trees.is_leaf | (weight <= 0), step, scaled / np.where(weight > 0, weight, 1.0))
    gradient = -scaled / trees.spread(rate)
    divisor = text.shrinkage.size // text.n_outputs if text.is_averaged else 1
    answer = value / divisor
    loss = gradient * answer + curvature * hessian * answer**2 / 2

    count = trees.n_rows[trees.start[:-1]]
    if "goss" in (text.parameters.get("data_sample_strategy"), text.parameters.get("boosting")):
        count = np.full(count.size, count.max())  # sampled rows are weighted up to represent all
    split = np.flatnonzero(~trees.is_leaf)
    gain = np.zeros(step.size)
    gain[split] = loss[split] - loss[split + 1] - loss[trees.right[split]]
    return value, gain / np.maximum(trees.spread(count), 1.0)
