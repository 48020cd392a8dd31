"""Cheap checks that the arrays of a `Forest` fit together, so that kernels can index without looking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from budgetprune.forest._forest import Forest

ARRAYS: dict[str, Any] = {
    "tree_start": np.int64,
    "parent": np.int32,
    "left": np.int32,
    "right": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.bool_,
    "category_set": np.int32,
    "category_start": np.int64,
    "category_bits": np.uint32,
    "value": np.float64,
    "weight": np.float64,
    "class_weight": np.float64,
    "variance": np.float64,
    "tree_output": np.int32,
    "base": np.float64,
    "classes": None,
    "origin_node": np.int32,
    "tree_round": np.int32,
    "split_gain": np.float64,
}

_PER_NODE = (
    "parent",
    "left",
    "right",
    "feature",
    "threshold",
    "missing_left",
    "category_set",
    "value",
    "weight",
    "class_weight",
    "variance",
    "origin_node",
    "split_gain",
)


def check_forest(forest: Forest) -> None:
    """Raise InvalidInputError, naming the array, unless the arrays describe trees in pre-order."""
    n_nodes = forest.feature.size
    for name in _PER_NODE:
        array = getattr(forest, name)
        _require(array is None or len(array) == n_nodes, f"{name} must have one entry per node ({n_nodes})")

    start = forest.tree_start
    _require(
        start.size >= 2 and start[0] == 0 and start[-1] == n_nodes and bool(np.all(np.diff(start) > 0)),
        f"tree_start must grow from 0 to the number of nodes ({n_nodes})",
    )
    is_split = forest.feature >= 0
    split = np.flatnonzero(is_split)
    is_root = np.zeros(n_nodes, dtype=np.bool_)
    is_root[start[:-1]] = True
    _require(bool(np.all(forest.feature < forest.n_features)), f"feature must be below {forest.n_features}")
    _require(
        np.array_equal(forest.left[split], split + 1), "left must be the next node (pre-order) at splits"
    )
    _require(
        bool(np.all(forest.left[~is_split] == -1) and np.all(forest.right[~is_split] == -1)),
        "left and right must be -1 at leaves",
    )
    right = forest.right[split]
    _require(bool(np.all((right > split + 1) & (right < n_nodes))), "right must come after the left subtree")
    _require(
        bool(np.all((forest.parent < 0) == is_root))
        and np.array_equal(forest.parent[split + 1], split)
        and np.array_equal(forest.parent[right], split)
        and 2 * split.size == n_nodes - forest.n_trees,
        "parent must be -1 at the first node of each tree and agree with left and right elsewhere",
    )
    _require(
        bool(np.all(forest.category_set < forest.category_start.size - 1)),
        "category_set must number a set between category_start's entries",
    )
    _require(
        forest.category_start.size >= 1 and int(forest.category_start[-1]) == forest.category_bits.size,
        "category_start must end at the length of category_bits",
    )
    _check_outputs(forest)


def _check_outputs(forest: Forest) -> None:
    output, n_values = forest.tree_output, forest.value.shape[-1]
    _require(output.size == forest.n_trees, f"tree_output must have one entry per tree ({forest.n_trees})")
    _require(forest.value.ndim == 2, "value must be two-dimensional")
    _require(bool(np.all(output < forest.n_outputs)), f"tree_output must be below {forest.n_outputs}")
    _require(
        n_values == forest.n_outputs or bool(np.all(output >= 0)),
        f"value must have {forest.n_outputs} columns, one per output, where a tree feeds all outputs",
    )
    rounds = forest.tree_round
    _require(
        rounds is None or (rounds.size == forest.n_trees and bool(np.all(np.diff(rounds) >= 0))),
        f"tree_round must have one entry per tree ({forest.n_trees}), and never fall",
    )
    n_classes = None if forest.classes is None else forest.classes.size
    _require(
        forest.class_weight is None or forest.class_weight.shape[1:] == (n_classes,),
        "class_weight must have one column per class",
    )
    _require(
        forest.feature_names is None or len(forest.feature_names) == forest.n_features,
        f"feature_names must name all {forest.n_features} features",
    )
    _require(
        forest.categories is None or len(forest.categories) == forest.n_features,
        f"categories must have one entry for each of {forest.n_features} features",
    )


def check_keep(forest: Forest, keep: ArrayLike) -> NDArray[np.bool_]:
    """Return `keep` as a mask if it is a pruning: a set of splits that is closed under "parent"."""
    mask = np.asarray(keep)
    if mask.dtype != np.bool_ or mask.shape != (forest.n_nodes,):
        raise InvalidInputError(
            f"keep must be a bool mask of shape ({forest.n_nodes},), one per node, "
            f"not {mask.dtype} of shape {mask.shape}."
        )
    leaves = np.flatnonzero(mask & ~forest.is_split)
    if leaves.size:
        raise InvalidInputError(f"keep marks node {leaves[0]}, which is a leaf; only splits can stay splits.")
    orphans = np.flatnonzero(mask & (forest.parent >= 0) & ~mask[forest.parent])
    if orphans.size:
        raise InvalidInputError(
            f"keep marks node {orphans[0]} but not its parent {forest.parent[orphans[0]]}; "
            "a split can stay only if its parent stays."
        )
    return mask


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InvalidInputError(f"these arrays are no forest: {what}.")
