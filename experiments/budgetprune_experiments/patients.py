"""Medical data: rows, prices and splits of patients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from budgetprune.costs import FeatureCosts
from budgetprune.datasets import TRAIN, load_heart, load_thyroid
from budgetprune.demo import measurement_costs
from budgetprune.errors import InvalidInputError
from budgetprune.selection import LabelledRows, split_rows
from budgetprune_experiments.experiment import Options
from budgetprune_experiments.split import Split

# Share of validation patients among those not in the test.
VALIDATION = 0.3


@dataclass(frozen=True, eq=False)
class Patients:
    """Rows and prices.

    `in_test` marks those that the source keeps for the test, if it does.
    """

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    costs: FeatureCosts
    in_test: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Diagnosis:
    """Diagnosis task: data, scoring and budgets.

    Attributes
    ----------
    name : str
    load : callable
    budgets : tuple of float
        Average cost per patient.
    is_uneven : bool
        Whether nearly all patients are healthy. Then scores are balanced accuracies, in which all classes
        have the same weight.
    bases : mapping of str to mapping
        Parameters of the base forests of all methods, by name; one of them is chosen on V.
    n_folds : int or None
        Number of cross-validation folds; None: the source fixes the test set.
    """

    name: str
    load: Callable[[Options], Patients]
    budgets: tuple[float, ...]
    is_uneven: bool
    bases: Mapping[str, Mapping[str, Any]]
    n_folds: int | None = None

    @property
    def score_name(self) -> str:
        return "balanced accuracy" if self.is_uneven else "accuracy"

    @property
    def scoring(self) -> str | None:
        """Scorer for estimators that choose internally."""
        return "balanced_accuracy" if self.is_uneven else None

    def score(self, y: NDArray[Any], label: NDArray[Any]) -> float:
        return float((balanced_accuracy_score if self.is_uneven else accuracy_score)(y, label))

    def splits(self, patients: Patients, seed: int) -> list[Split]:
        """Split the patients, once for each fold."""
        if self.n_folds is None:
            if patients.in_test is None:
                raise InvalidInputError(
                    f"the {self.name} data has no `split` that says which patients are for the test."
                )
            tests = [np.flatnonzero(patients.in_test)]
        else:
            folds = StratifiedKFold(self.n_folds, shuffle=True, random_state=seed)
            tests = [test for _, test in folds.split(patients.X, patients.y)]
        return [_split(patients, test, seed) for test in tests]


def _split(patients: Patients, test: NDArray[np.intp], seed: int) -> Split:
    everybody = LabelledRows(patients.X, patients.y)
    others = everybody.take(np.setdiff1d(np.arange(len(everybody)), test))
    train, val = split_rows(others, VALIDATION, np.random.RandomState(seed), by_class=True)
    return Split(seed, train, val, everybody.take(test))


# --- Data sets ----------------------------------------------------------------------------------------------


def _thyroid(options: Options) -> Patients:
    data = load_thyroid(options.data_dir)
    assert data.costs is not None
    return Patients(data.X, data.y, data.costs, None if data.split is None else data.split != TRAIN)


def _heart(options: Options) -> Patients:
    data = load_heart(options.data_dir)
    assert data.costs is not None
    return Patients(data.X, (data.y > 0).astype(np.int64), data.costs)  # 1 to 4 are degrees of illness


def _breast_cancer(options: Options) -> Patients:
    data = load_breast_cancer()
    return Patients(data.data.astype(np.float32), data.target, measurement_costs(data.feature_names))


_FEATURES: dict[str, dict[str, Any]] = {
    "all features": {"max_features": None},
    "some features": {"max_features": "sqrt"},
}


def _bases(others: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        f"{features}, {other}": {**of_features, **of_other}
        for features, of_features in _FEATURES.items()
        for other, of_other in others.items()
    }


THYROID = Diagnosis(
    "thyroid",
    _thyroid,
    (5, 15, 23, 25, 27, 30, 45, 75),
    is_uneven=True,
    bases=_bases({"rows alike": {}, "classes alike": {"class_weight": "balanced"}}),
)
HEART = Diagnosis(
    "heart",
    _heart,
    (5, 25, 50, 100, 125, 150, 200, 250, 330),
    is_uneven=False,
    bases=_bases({"pure leaves": {}, "leaves of 5": {"min_samples_leaf": 5}}),
    n_folds=4,
)
BREAST = Diagnosis(
    "breast cancer", _breast_cancer, (2, 8, 15), is_uneven=False, bases={"some features": {}}, n_folds=2
)
