"""Quality of class probabilities on test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.summary.outcome import Calibration, CalibrationBin, ProbabilityMeasures
from budgetprune.utils.quality import area_under_curve, calibration_bins, mean_log_loss, normalised


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
    truth, found = rows.truth[is_known], normalised(probabilities[is_known])
    return ProbabilityMeasures(
        n_rows=int(truth.size),
        auc=area_under_curve(truth, found),
        log_loss=mean_log_loss(truth, found),
        calibration=calibration(truth, found, rows.classes),
    )


def calibration(
    truth: NDArray[np.int64], probabilities: NDArray[np.float64], classes: NDArray[Any]
) -> Calibration:
    """Compare probabilities with frequencies; see `calibration_bins`."""
    found = calibration_bins(truth, probabilities)
    columns = zip(found.predicted.tolist(), found.observed.tolist(), found.n_rows.tolist(), strict=True)
    label = str(classes[1]) if classes.size == 2 else None
    return Calibration(label, tuple(CalibrationBin(*each) for each in columns), found.error)
