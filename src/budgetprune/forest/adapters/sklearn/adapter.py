"""Adapter of scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.adapter import Adapter
from budgetprune.forest.adapters.sklearn import reader
from budgetprune.forest.adapters.sklearn.boosting import from_gradient_boosting
from budgetprune.forest.adapters.sklearn.bootstrap import in_bag_counts
from budgetprune.forest.adapters.sklearn.calibrated import from_calibrated
from budgetprune.forest.adapters.sklearn.exporter import to_sklearn
from budgetprune.forest.adapters.sklearn.hist import from_hist_gradient_boosting
from budgetprune.forest.adapters.sklearn.importer import from_bagging, from_forest, from_tree
from budgetprune.utils.archive import check_archive

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

_ENSEMBLES = {
    "DecisionTree": from_tree,
    "ExtraTree": from_tree,
    "RandomForest": from_forest,
    "ExtraTrees": from_forest,
    "Bagging": from_bagging,
    "GradientBoosting": from_gradient_boosting,
    "HistGradientBoosting": from_hist_gradient_boosting,
}
_IMPORTERS = {
    f"sklearn.{ensemble}{task}": function
    for ensemble, function in _ENSEMBLES.items()
    for task in ("Classifier", "Regressor")
} | {"sklearn.CalibratedClassifierCV": from_calibrated}


class SklearnAdapter(Adapter):
    """Trees, forests, bags of trees and both kinds of gradient boosting of scikit-learn.

    Model files are those of skops, which contain no code.
    """

    name, title = "sklearn", "scikit-learn"
    importers = _IMPORTERS
    suffixes = (".skops",)
    reader = reader

    def export(self, forest: Forest, **options: Any) -> Any:
        return to_sklearn(forest)

    def in_bag_counts(self, model: Any, n_rows: int) -> NDArray[np.int32]:
        return in_bag_counts(model, n_rows)

    def check_file(self, file: Path) -> None:
        """Raise if the file, a zip archive, unpacks to far more than its size."""
        check_archive(file)

    def explain_load_error(self, kind: str, message: str) -> str | None:
        if kind != reader.UntrustedTypesError.__name__:
            return None
        return (
            f"holds types that are not trusted ({message}): they could run any code, so the file is not "
            f"loaded. Save the plain model of scikit-learn; LightGBM and XGBoost have files of their own, "
            ".txt and .json."
        )
