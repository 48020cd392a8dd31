"""What the importers of all of scikit-learn's ensembles do alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from budgetprune.errors import InvalidInputError
from budgetprune.forest._layout import node_table
from budgetprune.forest._topology import in_preorder


class Planted(NamedTuple):
    """The trees of an ensemble one after the other, each in pre-order."""

    order: NDArray[np.int64]  # the old number of each node, counted through all trees
    table: NDArray[Any]  # what the library recorded of each node
    fields: dict[str, Any]  # the fields of Forest that say how nodes hang together

    @property
    def is_split(self) -> NDArray[np.bool_]:
        return np.asarray(self.fields["left"] >= 0)


def check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise InvalidInputError(f"this {type(model).__name__} is not fitted; call its fit first.") from error


def about_model(model: Any) -> dict[str, Any]:
    """The fields of Forest that every fitted estimator tells under the same names."""
    return {
        "n_features": model.n_features_in_,
        "feature_names": tuple(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None,
        "origin": model,
    }


def plant(tables: list[NDArray[Any]], left: str, right: str) -> Planted:
    """Put trees in a row and renumber their nodes.

    Parameters
    ----------
    tables : the nodes of each tree
    left, right : what a table calls the children; where there are none, it has numbers below 1 there
    """
    start = np.concatenate([[0], np.cumsum([table.size for table in tables])])
    table = np.concatenate(tables)
    # No child is a root, so 0 is as good a way to say "no child" as -1.
    children = (np.where(table[side] > 0, table[side], -1).astype(np.int64) for side in (left, right))
    order, parent, new_left, new_right = in_preorder(start, *children)
    fields = {
        "tree_start": start,
        "parent": parent,
        "left": new_left,
        "right": new_right,
        "origin_node": order - np.repeat(start[:-1], np.diff(start)),
    }
    return Planted(order, table[order], fields)


def plant_trees(trees: list[Any]) -> Planted:
    """Put fitted decision trees in a row, with all that their splits need: they only know thresholds."""
    planted = plant([node_table(tree.tree_) for tree in trees], "left_child", "right_child")
    table, is_split = planted.table, planted.is_split
    planted.fields.update(
        {
            "feature": np.where(is_split, table["feature"], -1),
            "threshold": np.where(is_split, table["threshold"], np.nan),
            "missing_left": (table["missing_go_to_left"] != 0) & is_split,
            "category_set": np.full(is_split.size, -1),
            "category_start": np.zeros(1, dtype=np.int64),
            "category_bits": np.empty(0, dtype=np.uint32),
            "weight": table["weighted_n_node_samples"],
            "input_dtype": np.dtype(np.float32),
        }
    )
    return planted
