"""Recall and precision by class."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.summary.outcome import ClassMeasures
from budgetprune.utils.quality import label_quality


def class_measures(rows: EvaluationRows, answer: NDArray[Any]) -> tuple[ClassMeasures, ...] | None:
    """Return the measures of the classes that have a row in the confusion matrix; None for regression."""
    if rows.matrix_classes is None:
        return None
    quality = label_quality(rows.truth, rows.class_indices(answer), rows.matrix_classes.named)
    columns = zip(*(each.tolist() for each in quality), strict=True)
    return tuple(
        ClassMeasures(int(n), int(m), None if n == 0 else found, None if m == 0 else correct)
        for n, m, found, correct in columns
    )
