"""Shared code of the importers for scikit-learn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest.adapters.sklearn.layout import node_table
from budgetprune.forest.damage import check_nodes
from budgetprune.forest.topology import in_preorder


class JoinedTrees(NamedTuple):
    """Trees of an ensemble one after the other, each in pre-order."""

    order: NDArray[np.int64]  # the old number of each node, among the nodes of all trees
    table: NDArray[Any]  # the library's own record of each node
    fields: dict[str, Any]  # the fields of Forest for the links between nodes

    @property
    def is_split(self) -> NDArray[np.bool_]:
        return np.asarray(self.fields["left"] >= 0)


def check_fitted(model: Any) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise InvalidInputError(f"this {type(model).__name__} is not fitted; call its fit first.") from error


def about_model(model: Any) -> dict[str, Any]:
    """Fields of Forest that all fitted estimators provide under the same names."""
    return {
        "n_features": model.n_features_in_,
        "feature_names": tuple(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None,
        "origin": model,
    }


def join_trees(tables: list[NDArray[Any]], left: str, right: str, no_child: int) -> JoinedTrees:
    """Concatenate trees and renumber their nodes.

    Parameters
    ----------
    tables : the nodes of each tree
    left, right : names of the tables' fields for the children
    no_child : value of these fields at leaves
    """
    start = np.concatenate([[0], np.cumsum([table.size for table in tables])])
    table = np.concatenate(tables)
    children = (table[side].astype(np.int64) for side in (left, right))  # some are unsigned
    of_left, of_right = (np.where(child == no_child, -1, child) for child in children)
    order, parent, new_left, new_right = in_preorder(start, of_left, of_right)
    fields = {
        "tree_start": start,
        "parent": parent,
        "left": new_left,
        "right": new_right,
        "origin_node": order - np.repeat(start[:-1], np.diff(start)),
    }
    return JoinedTrees(order, table[order], fields)


def join_decision_trees(trees: list[Any]) -> JoinedTrees:
    """Concatenate fitted decision trees, with all fields for their splits, which are by threshold only."""
    joined = join_trees([node_table(tree.tree_) for tree in trees], "left_child", "right_child", no_child=-1)
    table, is_split = joined.table, joined.is_split
    start = joined.fields["tree_start"]
    n_features = np.repeat([tree.tree_.n_features for tree in trees], np.diff(start))
    feature = table["feature"]
    is_known = ~is_split | ((feature >= 0) & (feature < n_features))
    check_nodes(start, is_known, "splits by the feature {}, which does not exist", feature)
    joined.fields.update(
        {
            "feature": np.where(is_split, feature, -1),
            "threshold": np.where(is_split, table["threshold"], np.nan),
            "missing_left": (table["missing_go_to_left"] != 0) & is_split,
            "category_set": np.full(is_split.size, -1),
            "category_start": np.zeros(1, dtype=np.int64),
            "category_bits": np.empty(0, dtype=np.uint32),
            "weight": table["weighted_n_node_samples"],
            "input_dtype": np.dtype(np.float32),
        }
    )
    return joined


_LOSSES = {"squared_error": "squared", "poisson": "poisson", "gamma": "gamma"}


def boosting_fields(model: Any, binary_rule: str, n_rounds: int, n_outputs: int) -> dict[str, Any]:
    """Fields of Forest for the scores of a boosted ensemble, and for the output and round of each tree.

    Parameters
    ----------
    model : the fitted estimator; its trees are sorted by round, then by output
    binary_rule : label rule if there are two classes
    n_rounds, n_outputs : number of rounds, and of trees in each
    """
    n_classes = len(model.classes_) if is_classifier(model) else 0
    if n_classes == 1:
        raise UnsupportedModelError(
            f"this {type(model).__name__} was trained on rows of the single class {model.classes_[0]}; "
            "train it on rows of at least two classes."
        )
    loss = _LOSSES.get(model.loss) if n_classes == 0 else "logistic" if n_classes == 2 else "softmax"
    return {
        "tree_output": np.tile(np.arange(n_outputs), n_rounds),
        "tree_round": np.repeat(np.arange(n_rounds), n_outputs),
        "divisor": 1.0,
        "loss": loss,
        "link": loss if n_classes else "exp" if loss in ("poisson", "gamma") else "identity",
        "label_rule": binary_rule if n_classes == 2 else "argmax",
        "classes": model.classes_ if n_classes else None,
        "class_weight": None,
        "variance": None,
    }
