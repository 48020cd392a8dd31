"""Importer for models of Yggdrasil Decision Forests. The library itself is not imported here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.ydf.document import SavedModel, read_model
from budgetprune.forest.adapters.ydf.features import OTHER, read_features, read_labels
from budgetprune.forest.adapters.ydf.objective import (
    YdfObjective,
    averaged_objective,
    boosted_objective,
    is_classification,
    read_task,
)
from budgetprune.forest.adapters.ydf.splits import Columns, collect
from budgetprune.forest.category_sets import pack_sets
from budgetprune.forest.damage import check_model, check_nodes
from budgetprune.forest.forest import Forest
from budgetprune.forest.topology import in_preorder, links_in_preorder
from budgetprune.forest.topology_kernels import mean_of_leaves, sum_of_leaves


def from_ydf(model: Any) -> Forest:
    """Convert a model from the protocol buffers that Yggdrasil serialises.

    Yggdrasil tests `x >= threshold` in single precision, so rows on a threshold go right. A missing value
    passes a test or not, as recorded. Categories that were unknown or rare in training share the number 0,
    which sets may contain. An empty string is a missing category. In a forest of voting trees
    (`winner_take_all`), each node votes for one class.
    """
    saved = read_model(model)
    task = read_task(saved.about)
    features = read_features(saved.columns.columns, list(saved.about.input_features))
    label = saved.about.label_col_idx
    check_model(0 <= label < len(saved.columns.columns), f"its label is in the column {label}")
    classes = read_labels(saved.columns.columns[label]) if is_classification(task) else None
    n_labels = 0 if classes is None else classes.size
    nodes = collect(saved.nodes, features, 0 if saved.is_boosted else n_labels)
    shape = _shape(nodes, saved.header.num_trees)
    answers = _answers(saved, nodes, shape, n_labels)
    order = shape.order
    sets = nodes.members
    owner = np.repeat(np.arange(len(sets)), [some.size for some in sets])
    start, bits = pack_sets(owner, np.concatenate([np.empty(0, dtype=np.int64), *sets]), len(sets))
    return Forest(
        tree_start=shape.tree_start,
        parent=shape.parent,
        left=shape.left,
        right=shape.right,
        feature=nodes.feature[order],
        threshold=nodes.threshold[order],
        missing_left=nodes.missing_left[order],
        category_set=nodes.category_set[order],
        category_start=start,
        category_bits=bits,
        value=answers.value,
        weight=answers.weight,
        class_weight=answers.class_weight,
        variance=answers.variance,
        tree_output=answers.tree_output,
        base=answers.base,
        divisor=answers.divisor,
        link=answers.objective.link,
        label_rule=answers.objective.label_rule,
        label_dtype=np.dtype(np.float32),
        classes=classes,
        n_features=len(features.names),
        feature_names=features.names,
        input_dtype=np.dtype(np.float32),
        missing="nan",
        origin=model,
        origin_node=(order - np.repeat(shape.tree_start[:-1], np.diff(shape.tree_start))).astype(np.int32),
        loss=answers.objective.loss,
        tree_round=answers.tree_round,
        categories=features.categories if any(own is not None for own in features.categories) else None,
        other_category=OTHER,
    )


# --- Shape --------------------------------------------------------------------------------------------------


class _Shape(NamedTuple):
    """Links between nodes in pre-order, left children first."""

    tree_start: NDArray[np.int64]
    order: NDArray[np.int64]
    parent: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]


def _shape(nodes: Columns, n_trees: int) -> _Shape:
    """Find the trees in a list of nodes where the child for a failed test follows its parent."""
    start = _tree_start(nodes.is_split)
    check_model(start.size - 1 == n_trees, f"it has {start.size - 1} trees instead of {n_trees}")
    failed, passed = _children(nodes.is_split, start)
    swap = nodes.passes_left
    return _Shape(start, *in_preorder(start, np.where(swap, passed, failed), np.where(swap, failed, passed)))


def _tree_start(is_split: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Offset of each tree: one has ended as soon as it has one leaf more than splits."""
    n_open = np.cumsum(np.where(is_split, 1, -1))
    # The trees before tree t have t more leaves than splits.
    lowest = np.minimum.accumulate(np.minimum(n_open, 0))
    is_last = np.diff(lowest, prepend=0) < 0
    check_model(bool(is_last.size) and bool(is_last[-1]), "its last tree is cut off")
    return np.concatenate([[0], np.flatnonzero(is_last) + 1])


def _children(
    is_split: NDArray[np.bool_], start: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Children of each split within its tree: the next node, and the node after that one's subtree."""
    _, first, second = links_in_preorder(start, is_split)
    shift = np.repeat(start[:-1], np.diff(start))
    failed, passed = (np.where(child >= 0, child - shift, -1) for child in (first, second))
    return failed, passed


# --- Answers ------------------------------------------------------------------------------------------------


class _Answers(NamedTuple):
    """Fields of a Forest for what its trees add up to."""

    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    class_weight: NDArray[np.float64] | None
    variance: NDArray[np.float64] | None
    tree_output: NDArray[np.int32]
    tree_round: NDArray[np.int32] | None
    base: NDArray[np.float64]
    divisor: float
    objective: YdfObjective


def _answers(saved: SavedModel, nodes: Columns, shape: _Shape, n_labels: int) -> _Answers:
    n_trees = shape.tree_start.size - 1
    weight = sum_of_leaves(shape.right, nodes.weight[shape.order][:, np.newaxis])[:, 0]
    if not saved.is_boosted:
        if n_labels:
            value, class_weight = _shares(saved.header, nodes, shape, n_labels)
            variance = None
        else:
            value, class_weight = _numbers(nodes, shape, weight), None
            variance = _variance(nodes, shape, weight)
        output = np.full(n_trees, -1, dtype=np.int32)
        objective = averaged_objective(n_trees, n_labels)
        base = np.zeros(value.shape[1])
        return _Answers(value, weight, class_weight, variance, output, None, base, float(n_trees), objective)
    objective = boosted_objective(saved.header, n_labels)
    base = np.array(saved.header.initial_predictions, dtype=np.float64)
    check_model(n_trees % base.size == 0, f"it has {n_trees} trees for {base.size} scores")
    number = np.arange(n_trees, dtype=np.int32)
    return _Answers(
        _numbers(nodes, shape, weight),
        weight,
        None,
        None,
        number % base.size,
        number // base.size,
        base,
        1.0,
        objective,
    )


def _numbers(nodes: Columns, shape: _Shape, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Value of each node of trees that answer numbers; the mean of the leaves where it was not recorded."""
    own = nodes.top[shape.order][:, np.newaxis]
    is_known = ~np.isnan(own[:, 0])
    check_nodes(shape.tree_start, is_known | (shape.left >= 0), "is a leaf without a value")
    mean = mean_of_leaves(shape.right, np.nan_to_num(own), weight)
    return np.where(is_known[:, np.newaxis], own, mean)


def _variance(nodes: Columns, shape: _Shape, weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Variance of the targets at each node; None if it was not recorded."""
    sums = sum_of_leaves(shape.right, nodes.sums[shape.order])
    if np.isnan(sums).any():
        return None
    mean, square = sums.T / weight
    return np.asarray(np.maximum(square - mean**2, 0.0))


def _shares(
    header: Any, nodes: Columns, shape: _Shape, n_labels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Value and class weights of each node of a random forest of labels."""
    # Inner nodes may have no records; all rows of training are in leaves.
    own = sum_of_leaves(shape.right, nodes.counts[shape.order])
    count, total = own[:, 1:], own.sum(axis=1)
    if not header.winner_take_all_inference:
        check_nodes(shape.tree_start, total > 0, "has no rows of training")
        return count / total[:, np.newaxis], count
    top = nodes.top[shape.order]
    top = np.where(np.isnan(top), 1 + np.argmax(count, axis=1), top).astype(np.int64)
    if np.any(top == 0):
        raise UnsupportedModelError(
            "some trees of this Yggdrasil model vote for labels that were too rare to be kept "
            f"in training ({OTHER}); train it with a label column whose min_vocab_frequency is 1."
        )
    check_nodes(shape.tree_start, (top > 0) & (top <= n_labels), "votes for the label {}", top)
    return (top[:, np.newaxis] == np.arange(1, n_labels + 1)).astype(np.float64), count
