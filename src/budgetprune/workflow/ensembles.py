"""Training of tree ensembles with scikit-learn and LightGBM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from budgetprune.errors import InvalidInputError
from budgetprune.selection import LabelledRows
from budgetprune.utils.threads import available_cores, boosting_threads

# Kinds of ensembles, and their default number of trees. As in the paper, a forest has few trees, and each
# split may use any column: with fewer columns to choose from, the trees begin with different columns, and no
# useful pruning is cheap.
DEFAULT_TREES = {"random-forest": 40, "extra-trees": 40, "lightgbm": 100}

_FORESTS = {
    "random-forest": (RandomForestRegressor, RandomForestClassifier),
    "extra-trees": (ExtraTreesRegressor, ExtraTreesClassifier),
}


@dataclass(frozen=True)
class EnsembleSpec:
    """Parameters of an ensemble.

    Parameters
    ----------
    kind : one of `DEFAULT_TREES`
    n_trees : int, optional
        By default that of `DEFAULT_TREES`.
    max_features : float
        Share of the columns considered at each split.
    random_state : int
    n_jobs : int, optional
        Number of threads. None means all cores; for LightGBM physical cores, and fewer for small data.
    class_weight : "balanced" or mapping, optional
        Weights of the class numbers.
    """

    kind: str
    n_trees: int | None = None
    max_features: float = 1.0
    random_state: int = 0
    n_jobs: int | None = None
    class_weight: Any = None

    def __post_init__(self) -> None:
        if self.kind not in DEFAULT_TREES:
            raise InvalidInputError(f"a model is one of {', '.join(DEFAULT_TREES)}, not {self.kind!r}.")

    @property
    def n_estimators(self) -> int:
        """Number of trees."""
        return DEFAULT_TREES[self.kind] if self.n_trees is None else self.n_trees

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """Precision in which the ensemble compares; rows in another precision would be copied."""
        return np.float64 if self.kind == "lightgbm" else np.float32


def train_ensemble(
    spec: EnsembleSpec, rows: LabelledRows, *, is_classifier: bool, categorical: Sequence[int] = ()
) -> Any:
    """Train an ensemble.

    Parameters
    ----------
    spec : EnsembleSpec
    rows : training rows; missing values are NaN, and classes are 0, 1, ...
    is_classifier : whether the targets are classes
    categorical : columns that hold category numbers
        LightGBM splits them into sets. Forests compare the numbers, so their order should be meaningful.

    Returns
    -------
    fitted model of scikit-learn or LightGBM
    """
    weights = {"class_weight": spec.class_weight} if is_classifier else {}
    if spec.kind in _FORESTS:
        forest = _FORESTS[spec.kind][is_classifier](
            n_estimators=spec.n_estimators,
            max_features=spec.max_features,
            random_state=spec.random_state,
            n_jobs=spec.n_jobs or available_cores(),
            **weights,
        )
        return forest.fit(rows.X, rows.y)
    import lightgbm

    boosted = (lightgbm.LGBMClassifier if is_classifier else lightgbm.LGBMRegressor)(
        n_estimators=spec.n_estimators,
        feature_fraction_bynode=spec.max_features,
        random_state=spec.random_state,
        n_jobs=spec.n_jobs or boosting_threads(rows.X),
        deterministic=True,
        force_row_wise=True,
        verbose=-1,
        **weights,
    )
    return boosted.fit(rows.X, rows.y, categorical_feature=list(categorical) or "auto")
