"""Features of a CatBoost model, and those that a Forest cannot have."""

from __future__ import annotations

from typing import Any, NamedTuple

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model

_MISSING_LEFT = {"AsIs": True, "AsFalse": True, "AsTrue": False}


class Features(NamedTuple):
    """Features of a model, by CatBoost's numbers of floats and of categories.

    Attributes
    ----------
    names : names in the order of the columns, None if they are numbers
    n_features : number of columns
    column, missing_left : column of each feature with numbers, and the side of its missing values
    hashes : hashes of the categories that splits test, by the columns of such features
    category_column : column of each feature with categories
    """

    names: tuple[str, ...] | None
    n_features: int
    column: dict[int, int]
    missing_left: dict[int, bool]
    hashes: dict[int, list[int]]
    category_column: dict[int, int]


def read_features(information: dict[str, Any], names: list[str]) -> Features:
    n_features = len(names)
    floats, categories = (information.get(f"{kind}_features", []) for kind in ("float", "categorical"))
    columns = [feature["flat_feature_index"] for feature in (*floats, *categories)]
    check_model(
        all(isinstance(column, int) and 0 <= column < n_features for column in columns)
        and len(set(columns)) == len(columns),
        f"its features do not belong to {n_features} columns",
    )
    return Features(
        None if names == [str(k) for k in range(n_features)] else tuple(names),
        n_features,
        {feature["feature_index"]: feature["flat_feature_index"] for feature in floats},
        {feature["feature_index"]: _MISSING_LEFT[feature["nan_value_treatment"]] for feature in floats},
        {feature["flat_feature_index"]: feature.get("values", []) for feature in categories},
        {feature["feature_index"]: feature["flat_feature_index"] for feature in categories},
    )


def refuse_features(model: Any, names: list[str]) -> None:
    for kind in ("text", "embedding"):
        columns: list[int] = getattr(model, f"_get_{kind}_feature_indices", list)()
        if columns:
            which = ", ".join(repr(names[k]) for k in columns)
            raise UnsupportedModelError(
                f"this CatBoost model computes numbers from {kind} ({which}) by its own rules, which a "
                f"Forest has not; compute features from the {kind} yourself, and train on these."
            )


def refuse_statistics(information: dict[str, Any], features: Features, names: list[str]) -> None:
    """Refuse statistics of the target by category (CTR), which CatBoost computes from several columns."""
    found = {
        element["cat_feature_index"]
        for statistic in information.get("ctrs", [])
        for element in statistic["elements"]
        if "cat_feature_index" in element
    }
    if found:
        which = ", ".join(repr(names[features.category_column[k]]) for k in sorted(found))
        raise UnsupportedModelError(
            f"this CatBoost model replaces the categories of {which} by statistics of the target (CTR), of "
            "which a Forest has none. Train with one_hot_max_size at least as large as the number of their "
            "categories, so that splits test the categories themselves, or encode the columns as numbers "
            "first."
        )
