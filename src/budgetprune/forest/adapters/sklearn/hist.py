"""Importer for scikit-learn's histogram-based gradient boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.adapters.sklearn.common import (
    JoinedTrees,
    about_model,
    boosting_fields,
    check_fitted,
    join_trees,
)
from budgetprune.forest.adapters.sklearn.hist_categories import find_encoding, swapped
from budgetprune.forest.adapters.sklearn.layout import hist_node_table
from budgetprune.forest.damage import check_nodes
from budgetprune.forest.forest import Forest
from budgetprune.forest.topology_kernels import mean_of_leaves

# Losses whose leaves are set to a median or another quantile of the residuals after the tree was grown.
_RENEWED = ("absolute_error", "quantile")


def from_hist_gradient_boosting(model: Any) -> Forest:
    """Convert a HistGradientBoostingClassifier or HistGradientBoostingRegressor."""
    check_fitted(model)
    predictors = [predictor for one_round in model._predictors for predictor in one_round]
    joined = join_trees([_read_nodes(predictor) for predictor in predictors], "left", "right", no_child=0)
    table, is_split, start = joined.table, joined.is_split, joined.fields["tree_start"]
    check_nodes(start, (table["is_leaf"] == 0) == is_split, "is both a leaf and a split")
    value, split_gain = _values_and_gains(model, joined)
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    encoding = find_encoding(model)
    tested = np.where(is_split, table["feature_idx"].astype(np.int64), 0)
    is_known = (tested >= 0) & (tested < encoding.columns.size)
    check_nodes(start, is_known, "splits by the feature {}, which does not exist", tested)
    feature = np.where(is_split, encoding.columns[tested], -1)
    by_category = is_split & (table["is_categorical"] != 0)
    has_categories = np.isin(feature, list(encoding.numbers))
    check_nodes(
        start,
        has_categories | ~by_category,
        "splits by the categories of feature {}, which has none",
        feature,
    )
    is_swapped = swapped(table)
    sets = [predictor.raw_left_cat_bitsets for predictor in predictors]
    n_sets = np.array([len(own) for own in sets])
    own_set = table["bitset_idx"].astype(np.int64)
    has_set = (own_set >= 0) & (own_set < np.repeat(n_sets, np.diff(start)))
    check_nodes(start, has_set | ~by_category, "has the set of categories {}, which does not exist", own_set)
    place = own_set + np.repeat(np.cumsum(n_sets) - n_sets, np.diff(start))
    return Forest(
        **joined.fields,
        **about_model(model),
        **boosting_fields(model, "positive", len(model._predictors), base.size),
        **encoding.category_fields(
            feature, by_category, np.concatenate(sets)[place[by_category]], is_swapped[by_category]
        ),
        feature=feature,
        threshold=np.where(is_split & ~by_category, table["num_threshold"], np.nan),
        missing_left=(table["missing_go_to_left"] != 0) & is_split & ~is_swapped,
        value=value,
        # Whether rows had weights is not recorded: each counts 1.
        weight=table["count"],
        split_gain=split_gain,
        base=base,
        input_dtype=np.dtype(np.float64),
        missing="nan",
    )


def _read_nodes(predictor: Any) -> NDArray[Any]:
    """The nodes of a tree, with the children of swapped splits exchanged."""
    table = hist_node_table(predictor).copy()
    is_swapped = swapped(table)
    table["left"][is_swapped], table["right"][is_swapped] = (
        table["right"][is_swapped],
        table["left"][is_swapped],
    )
    return table


def _values_and_gains(
    model: Any, joined: JoinedTrees
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Values of leaves and splits on one scale, and gains of splits if recorded.

    A root has the value 0, from which scikit-learn counts its gain. The sum of gradients at the root is 0 in
    the first round and small later, so no constant is much better than 0.
    """
    table, fields = joined.table, joined.fields
    rate = model.learning_rate
    value = np.where(joined.is_split, rate * table["value"], table["value"])[:, np.newaxis]
    if model.loss in _RENEWED:
        return mean_of_leaves(fields["right"], value, table["count"].astype(np.float64)), None
    if model.monotonic_cst is not None:
        return value, None  # values are clipped, and gains are those of a full step, not of a shrunken one
    start = fields["tree_start"]
    n_rows = np.repeat(table["count"][start[:-1]], np.diff(start))
    gain = np.where(joined.is_split, table["gain"], 0.0) * (rate - rate**2 / 2) / n_rows
    return value, gain
