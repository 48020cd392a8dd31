"""Importer for scikit-learn's histogram-based gradient boosting."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest._forest import Forest
from budgetprune.forest._layout import hist_node_table
from budgetprune.forest._registry import importer
from budgetprune.forest._sklearn_common import Planted, about_model, boosting_fields, check_fitted, plant
from budgetprune.forest._topology import mean_of_leaves

# Losses whose leaves are set to a median or another quantile of the residuals after the tree was grown.
_RENEWED = ("absolute_error", "quantile")


@importer("sklearn.HistGradientBoostingClassifier", "sklearn.HistGradientBoostingRegressor")
def _from_hist_gradient_boosting(model: Any) -> Forest:
    check_fitted(model)
    predictors = [predictor for one_round in model._predictors for predictor in one_round]
    planted = plant([hist_node_table(predictor) for predictor in predictors], "left", "right")
    table, is_split = planted.table, planted.is_split
    value, split_gain = _values_and_gains(model, planted)
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    columns, categories = _columns_and_categories(model)
    by_category = is_split & (table["is_categorical"] != 0)
    sets = [predictor.raw_left_cat_bitsets for predictor in predictors]
    first_set = np.concatenate([[0], np.cumsum([len(own) for own in sets])])
    # Sets are numbered through all trees; each is eight words, one bit for each of 256 categories.
    own_first = np.repeat(first_set[:-1], np.diff(planted.fields["tree_start"]))
    return Forest(
        **planted.fields,
        **about_model(model),
        **boosting_fields(model, "positive", len(model._predictors), base.size),
        feature=np.where(is_split, columns[table["feature_idx"]], -1),
        threshold=np.where(is_split & ~by_category, table["num_threshold"], np.nan),
        missing_left=(table["missing_go_to_left"] != 0) & is_split,
        category_set=np.where(by_category, table["bitset_idx"] + own_first, -1),
        category_start=8 * np.arange(first_set[-1] + 1),
        category_bits=np.concatenate(sets).ravel(),
        categories=categories,
        value=value,
        # Whether rows had weights is not recorded: each counts 1.
        weight=table["count"],
        split_gain=split_gain,
        base=base,
        input_dtype=np.dtype(np.float64),
        missing="nan",
    )


def _values_and_gains(model: Any, planted: Planted) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """What nodes answer, leaves and splits on one scale; and what splits gain, if that is recorded.

    A root holds 0, and its gain is counted from there: so scikit-learn grows trees. The sum of gradients at
    the root is 0 in the first round and small later, so that no constant is much better than 0.
    """
    table, fields = planted.table, planted.fields
    rate = model.learning_rate
    value = np.where(planted.is_split, rate * table["value"], table["value"])[:, np.newaxis]
    if model.loss in _RENEWED:
        return mean_of_leaves(fields["right"], value, table["count"].astype(np.float64)), None
    if model.monotonic_cst is not None:
        return value, None  # values are clipped, and gains are those of a full step, not of a shrunken one
    start = fields["tree_start"]
    n_rows = np.repeat(table["count"][start[:-1]], np.diff(start))
    gain = np.where(planted.is_split, table["gain"], 0.0) * (rate - rate**2 / 2) / n_rows
    return value, gain


def _columns_and_categories(model: Any) -> tuple[NDArray[np.intp], tuple[tuple[Any, ...] | None, ...] | None]:
    """Which column of X each feature of the trees is, and what the numbers of its categories stand for.

    Where there are categorical features, the trees see them first, numbered by an encoder, and then the
    others.
    """
    is_categorical = model.is_categorical_
    if is_categorical is None:
        return np.arange(model.n_features_in_), None
    categorical = np.flatnonzero(is_categorical)
    encoder = model._preprocessor.named_transformers_["encoder"]
    categories: list[tuple[Any, ...] | None] = [None] * model.n_features_in_
    for k, known in zip(categorical, encoder.categories_, strict=True):
        # NaN has a place among them, the last one, but no number.
        categories[k] = tuple(category for category in known.tolist() if not _is_nan(category))
    return np.concatenate([categorical, np.flatnonzero(~is_categorical)]), tuple(categories)


def _is_nan(category: Any) -> bool:
    return isinstance(category, float) and isnan(category)
