"""Export to XGBoost: a Booster whose trees hold only the remaining nodes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.xgboost.model import PER_NODE, PER_SET, SavedModel, read_model

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

# Attributes that were measured on the unpruned trees. Given a best round, scikit-learn's wrappers would also
# ignore the rounds after it.
_STALE = ("best_iteration", "best_score")

_NO_PARENT = 2**31 - 1


def to_xgboost(forest: Forest) -> Any:
    """Replace the trees in the origin's JSON by those of `forest`, and load it with XGBoost."""
    from xgboost import Booster

    saved = read_model(forest.origin)
    _check_same_sum(forest, saved)
    for t, tree in enumerate(saved.trees):
        _prune_tree(forest, t, tree)
    for name in _STALE:
        saved.learner["attributes"].pop(name, None)
    booster = Booster()
    booster.load_model(bytearray(json.dumps(saved.document), "utf-8"))
    return booster


def _check_same_sum(forest: Forest, saved: SavedModel) -> None:
    """Raise unless the forest differs from its origin only in its trees."""
    if forest.link != saved.objective.link:
        raise UnsupportedModelError(
            f"the origin turns scores into predictions by its {saved.objective.link} link; "
            f"this forest has the {forest.link} link."
        )
    if forest.divisor != 1.0 or not np.array_equal(forest.base, saved.base):
        raise UnsupportedModelError(
            f"the origin adds its trees to the base score {saved.base}; this forest adds its own to "
            f"{forest.base} and divides by {forest.divisor}."
        )
    if forest.n_trees != len(saved.trees):
        raise UnsupportedModelError(
            f"the forest has {forest.n_trees} trees but its origin {len(saved.trees)}: was the origin "
            f"trained further after it was imported?"
        )


def _prune_tree(forest: Forest, t: int, tree: dict[str, Any]) -> None:
    """Reduce the arrays of a tree in JSON to the nodes of the forest's tree `t`, with its values.

    XGBoost requires adjacent siblings; they stay adjacent if the remaining nodes keep their old order.
    """
    nodes = slice(forest.tree_start[t], forest.tree_start[t + 1])
    order = np.argsort(forest.origin_node[nodes])
    kept = forest.origin_node[nodes][order]
    is_split = forest.is_split[nodes][order]
    answer = _single(forest.value[nodes, 0][order])

    old = {field: np.asarray(tree[field])[kept] for field in PER_NODE}
    new = {field: np.where(is_split, column, 0) for field, column in old.items()}
    for side in ("left_children", "right_children"):
        new[side] = np.where(is_split, np.searchsorted(kept, old[side]), -1)
    new["parents"] = np.searchsorted(kept, old["parents"])
    new["parents"][0] = _NO_PARENT
    new["sum_hessian"] = old["sum_hessian"]
    for field in ("split_conditions", "base_weights"):
        new[field] = np.where(is_split, old[field], answer)
    tree.update({field: column.tolist() for field, column in new.items()})
    tree.update(_prune_sets(tree, kept, is_split))
    tree["tree_param"].update(num_nodes=str(kept.size), num_deleted="0")


def _single(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to single precision, to numbers that are as short in JSON as XGBoost's own."""
    return value.astype(np.float32).astype(np.str_).astype(np.float64)


def _prune_sets(
    tree: dict[str, Any], kept: NDArray[np.int32], is_split: NDArray[np.bool_]
) -> dict[str, list[int]]:
    """Keep the sets of categories of the remaining splits."""
    pruned: dict[str, list[int]] = {field: [] for field in PER_SET}
    number = dict(zip(kept[is_split].tolist(), np.flatnonzero(is_split).tolist(), strict=True))
    for node, segment, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        if node in number:
            pruned["categories_nodes"].append(number[node])
            pruned["categories_segments"].append(len(pruned["categories"]))
            pruned["categories_sizes"].append(size)
            pruned["categories"] += tree["categories"][segment : segment + size]
    return pruned
