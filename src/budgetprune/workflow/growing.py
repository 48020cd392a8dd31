"""Grow an ensemble on rows that are numbers by now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from budgetprune.errors import InvalidInputError
from budgetprune.utils.threads import available_cores, boosting_threads

# What can be grown, and how many trees are usual. As in the paper, a forest has few trees, which may split on
# any column: with less choice, each tree begins with a column of its own, and nothing useful is cheap.
USUAL_TREES = {"random-forest": 40, "extra-trees": 40, "lightgbm": 100}

_FORESTS = {
    "random-forest": (RandomForestRegressor, RandomForestClassifier),
    "extra-trees": (ExtraTreesRegressor, ExtraTreesClassifier),
}


def precision_of(kind: str) -> type[np.floating[Any]]:
    """In which precision an ensemble compares: rows in another one would be copied."""
    return np.float64 if kind == "lightgbm" else np.float32


def grow(
    kind: str,
    X: NDArray[Any],
    y: NDArray[Any],
    *,
    is_classifier: bool,
    n_trees: int,
    max_features: float = 1.0,
    seed: int,
    n_jobs: int | None = None,
    categorical: Sequence[int] = (),
) -> Any:
    """Train an ensemble, and return it.

    Parameters
    ----------
    kind : one of `USUAL_TREES`
    X, y : training rows; missing values are NaN, and classes are 0, 1, ...
    is_classifier : whether `y` are classes
    n_trees, seed : as in scikit-learn
    n_jobs : number of threads
        None means all cores, and for LightGBM physical cores, and fewer for small data.
    max_features : share of the columns that each split may choose from
    categorical : columns that hold numbers of categories
        LightGBM divides them as sets. Others compare the numbers, whose order should mean something.
    """
    if kind in _FORESTS:
        forest = _FORESTS[kind][is_classifier](
            n_estimators=n_trees,
            max_features=max_features,
            random_state=seed,
            n_jobs=n_jobs or available_cores(),
        )
        return forest.fit(X, y)
    if kind != "lightgbm":
        raise InvalidInputError(f"a model is one of {', '.join(USUAL_TREES)}, not {kind!r}.")
    import lightgbm

    boosted = (lightgbm.LGBMClassifier if is_classifier else lightgbm.LGBMRegressor)(
        n_estimators=n_trees,
        feature_fraction_bynode=max_features,
        random_state=seed,
        n_jobs=n_jobs or boosting_threads(X),
        deterministic=True,
        force_row_wise=True,
        verbose=-1,
    )
    return boosted.fit(X, y, categorical_feature=list(categorical) or "auto")
