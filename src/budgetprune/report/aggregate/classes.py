"""Recall and precision by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support

from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.summary.outcome import ClassMeasures


def class_measures(rows: EvaluationRows, answer: NDArray[Any]) -> tuple[ClassMeasures, ...] | None:
    """Return the measures of the classes that have a row in the confusion matrix; None for regression."""
    if rows.matrix_classes is None:
        return None
    named, predicted = rows.matrix_classes.named, rows.class_indices(answer)
    precision, recall, _, n_rows = precision_recall_fscore_support(
        rows.truth, predicted, labels=named, zero_division=np.nan
    )
    n_predicted = np.bincount(predicted, minlength=max(named) + 1)[named]
    columns = zip(n_rows.tolist(), n_predicted.tolist(), recall.tolist(), precision.tolist(), strict=True)
    return tuple(
        ClassMeasures(int(n), int(m), None if n == 0 else found, None if m == 0 else correct)
        for n, m, found, correct in columns
    )
