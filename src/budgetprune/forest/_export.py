"""Back to scikit-learn: an ordinary estimator whose trees hold only the nodes that are left."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest._layout import LEAF_FEATURE, LEAF_THRESHOLD, class_columns, node_table

if TYPE_CHECKING:
    from budgetprune.forest._forest import Forest

# What these say was measured on the trees before they were pruned.
_STALE = ("oob_score_", "oob_decision_function_", "oob_prediction_")


def to_sklearn(forest: Forest) -> Any:
    """Copy the origin, with the trees of `forest` in the place of its own."""
    origin = forest.origin
    if origin is None or not type(origin).__module__.startswith("sklearn."):
        raise UnsupportedModelError(
            "only a forest that came from a scikit-learn model can go back: its origin is "
            f"{'missing' if origin is None else type(origin).__name__}."
        )
    if forest.link != "identity" or forest.base.any():
        raise UnsupportedModelError(
            f"a {type(origin).__name__} averages its trees and nothing else: it has no {forest.link} link "
            "and no base score."
        )
    if hasattr(origin, "tree_"):
        return _pruned_tree(forest, 0, origin)
    trees = [_pruned_tree(forest, t, tree) for t, tree in enumerate(origin.estimators_)]
    model = _copy_except(origin, origin.estimators_, trees)
    for name in _STALE:
        model.__dict__.pop(name, None)
    return model


def _copy_except(shell: Any, part: Any, new_part: Any) -> Any:
    """Deep copy of `shell` with `new_part` where it holds `part`, which is not copied."""
    return copy.deepcopy(shell, {id(part): new_part})


def _pruned_tree(forest: Forest, t: int, tree: Any) -> Any:
    """Copy of scikit-learn's `tree` that holds the nodes of the forest's tree `t`, in the forest's order."""
    nodes = slice(forest.tree_start[t], forest.tree_start[t + 1])
    kept = forest.origin_node[nodes]
    is_split = forest.is_split[nodes]

    table = node_table(tree.tree_)[kept]
    for child, number in (("left_child", forest.left), ("right_child", forest.right)):
        table[child] = np.where(is_split, number[nodes] - nodes.start, -1)
    table["feature"][~is_split] = LEAF_FEATURE
    table["threshold"][~is_split] = LEAF_THRESHOLD
    table["missing_go_to_left"][~is_split] = 0

    value = forest.value[nodes]
    if forest.classes is not None:
        known = class_columns(tree, forest.classes.size)
        if np.delete(value, known, axis=1).any():
            raise UnsupportedModelError(f"tree {t} gives weight to a class that its origin has never seen.")
        value = value[:, known]

    make, arguments, state = tree.tree_.__reduce__()
    new = make(*arguments)
    new.__setstate__(
        {
            **state,
            "max_depth": int(forest.depth[nodes].max()),
            "node_count": kept.size,
            "nodes": table,
            "values": np.ascontiguousarray(value[:, np.newaxis, :]),
        }
    )
    return _copy_except(tree, tree.tree_, new)
