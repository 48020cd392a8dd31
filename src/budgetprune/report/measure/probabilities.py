"""Quality of class probabilities on test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.summary.outcome import Calibration, CalibrationBin, ProbabilityMeasures

N_BINS = 10


def measure_probabilities(
    rows: EvaluationRows, probabilities: NDArray[Any] | None
) -> ProbabilityMeasures | None:
    """Measure class probabilities on the rows with a known label; None if there are none.

    Parameters
    ----------
    rows : EvaluationRows
    probabilities : array of shape (n_rows, n_classes), or None
    """
    if probabilities is None or rows.classes is None or not (rows.truth >= 0).any():
        return None
    is_known = rows.truth >= 0
    truth, found = rows.truth[is_known], probabilities[is_known].astype(np.float64)
    found /= found.sum(axis=1, keepdims=True)  # rounding, and float32
    return ProbabilityMeasures(
        n_rows=int(truth.size),
        auc=area_under_curve(truth, found),
        log_loss=float(log_loss(truth, found, labels=np.arange(rows.classes.size)))
        if rows.classes.size > 1
        else 0.0,
        calibration=calibration(truth, found, rows.classes),
    )


def area_under_curve(truth: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float | None:
    """Return the area under the ROC curve; None if all rows have the same class.

    With more than two classes, it is the average over the classes of the rows, each against the rest.
    """
    present = np.unique(truth)
    if present.size < 2:
        return None
    classes = [1] if probabilities.shape[1] == 2 else present.tolist()
    return float(np.mean([roc_auc_score(truth == k, probabilities[:, k]) for k in classes]))


def calibration(
    truth: NDArray[np.int64], probabilities: NDArray[np.float64], classes: NDArray[Any]
) -> Calibration:
    """Compare probabilities with frequencies, in bins of equal width.

    The probability is that of the second of two classes; with more classes, that of the most probable one.
    """
    if classes.size == 2:
        label, probability, is_event = str(classes[1]), probabilities[:, 1], truth == 1
    else:
        label, probability = None, probabilities.max(axis=1)
        is_event = probabilities.argmax(axis=1) == truth
    place = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
    count, predicted, events = (
        np.bincount(place, weights=values, minlength=N_BINS)
        for values in (np.ones(truth.size), probability, is_event)
    )
    filled = np.flatnonzero(count)
    gap = np.abs(predicted[filled] - events[filled]).sum() / truth.size
    bins = tuple(
        CalibrationBin(float(predicted[b] / count[b]), float(events[b] / count[b]), int(count[b]))
        for b in filled.tolist()
    )
    return Calibration(label, bins, float(gap))
