"""How scikit-learn stores a tree: the one place that knows its private layout, both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError

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
_HIST_STATE = {"nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets"}


def node_table(tree: Any) -> NDArray[Any]:
    """Structured array of the nodes of a `tree_`, as its pickle has it.

    A field we do not know could change where rows go (a new kind of split, say), so it is refused rather than
    ignored.
    """
    state = tree.__getstate__()
    table: NDArray[Any] = state["nodes"]
    _refuse_odd((set(table.dtype.names or ()) ^ _FIELDS) | (set(state) ^ _STATE))
    return table


def hist_node_table(predictor: Any) -> NDArray[Any]:
    """Structured array of the nodes of a `TreePredictor`, the trees of histogram-based gradient boosting."""
    state = vars(predictor)
    table: NDArray[Any] = state.get("nodes", np.empty(0))
    _refuse_odd((set(table.dtype.names or ()) ^ _HIST_FIELDS) | (set(state) ^ _HIST_STATE))
    return table


def _refuse_odd(odd: set[str]) -> None:
    if odd:
        raise UnsupportedModelError(
            "this version of scikit-learn stores trees in a way that budgetprune does not know "
            f"({', '.join(sorted(odd))}); use a version of scikit-learn that this budgetprune supports."
        )


def class_columns(tree: Any, n_classes: int) -> NDArray[np.intp]:
    """Which of the ensemble's classes the columns of a tree's values stand for.

    A tree of a bag that was grown on a sample without some class has no column for it; its `classes_` are
    then the numbers of the classes it has. A complete tree may as well have the user's own labels there.
    """
    classes = np.asarray(tree.classes_)
    return np.arange(n_classes) if classes.size == n_classes else classes.astype(np.intp)
