"""scikit-learn's private storage layout of trees, for import and export."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model

LEAF_FEATURE = -2
LEAF_THRESHOLD = -2.0

_FIELDS = {
    "left_child",
    "right_child",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
}
_STATE = {"max_depth", "node_count", "nodes", "values"}

_HIST_FIELDS = {
    "value",
    "count",
    "feature_idx",
    "num_threshold",
    "missing_go_to_left",
    "left",
    "right",
    "gain",
    "depth",
    "is_leaf",
    "bin_threshold",
    "is_categorical",
    "bitset_idx",
}
_HIST_KINDS = dict.fromkeys(("value", "num_threshold", "gain"), "f")  # all others are whole numbers
_HIST_STATE = {"nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets"}


def node_table(tree: Any) -> NDArray[Any]:
    """Structured array of the nodes of a `tree_`, as in its pickle.

    An unknown field could change the routing of rows (a new kind of split, for example), so it is an error.
    """
    # A tree with a wrong count reads beyond its memory.
    check_model(
        0 < tree.node_count <= tree.capacity,
        f"a tree says that it has {tree.node_count} nodes, but holds {tree.capacity}",
    )
    state = tree.__getstate__()
    table: NDArray[Any] = state["nodes"]
    _refuse_odd((set(table.dtype.names or ()) ^ _FIELDS) | (set(state) ^ _STATE))
    return table


def hist_node_table(predictor: Any) -> NDArray[Any]:
    """Structured array of the nodes of a `TreePredictor`, the trees of histogram-based gradient boosting."""
    state = vars(predictor)
    table: NDArray[Any] = state.get("nodes", np.empty(0))
    _refuse_odd((set(table.dtype.names or ()) ^ _HIST_FIELDS) | (set(state) ^ _HIST_STATE))
    check_model(table.ndim == 1 and table.size > 0, "the nodes of a tree are not an array of nodes")
    odd = [name for name in sorted(_HIST_FIELDS) if table[name].dtype.kind not in _HIST_KINDS.get(name, "iu")]
    check_model(not odd, f"the nodes of a tree hold something else than numbers ({', '.join(odd)})")
    sets = state["raw_left_cat_bitsets"]
    check_model(
        isinstance(sets, np.ndarray) and sets.dtype == np.uint32 and sets.shape[1:] == (8,),
        "the sets of categories of a tree are not 256 bits each",
    )
    return table


def _refuse_odd(odd: set[str]) -> None:
    if odd:
        raise UnsupportedModelError(
            "this version of scikit-learn stores trees in a way that budgetprune does not know "
            f"({', '.join(sorted(odd))}); use a version of scikit-learn that this budgetprune supports."
        )


def class_columns(tree: Any, n_classes: int) -> NDArray[np.intp]:
    """Indices of the ensemble's classes for the columns of a tree's values.

    A tree of a bag whose sample lacks a class has no column for it; its `classes_` are then the numbers of
    the classes it has. A tree with all classes may hold the user's labels instead.
    """
    classes = np.asarray(tree.classes_)
    if classes.size == n_classes:
        return np.arange(n_classes)
    numbers = classes.astype(np.intp)
    check_model(
        np.unique(numbers).size == numbers.size and bool(np.all((numbers >= 0) & (numbers < n_classes))),
        f"a tree has classes that the ensemble does not have ({classes.tolist()[:5]})",
    )
    return numbers
