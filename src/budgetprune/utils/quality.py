"""Quality of labels and class probabilities: AUC, log loss, calibration, recall and precision."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, precision_recall_fscore_support, roc_auc_score

N_BINS = 10


class CalibrationBins(NamedTuple):
    """Non-empty bins of probabilities of an event.

    Attributes
    ----------
    predicted, observed : float64 arrays of shape (n_bins,)
        Mean probability, and share of the rows with the event.
    n_rows : int64 array of shape (n_bins,)
    error : float
        Expected calibration error: average distance of the two, weighted by rows.
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    error: float


class LabelQuality(NamedTuple):
    """Recall and precision by class: NaN where a class has no rows, or is never predicted."""

    n_rows: NDArray[np.int64]
    n_predicted: NDArray[np.int64]
    recall: NDArray[np.float64]
    precision: NDArray[np.float64]


def normalised(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    """Return probabilities that add up to 1 in double precision."""
    found = probabilities.astype(np.float64)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def area_under_curve(truth: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float | None:
    """Return the area under the ROC curve; None if all rows have the same class.

    With more than two classes, it is the average over the classes of the rows, each against the rest.
    """
    present = np.unique(truth)
    if present.size < 2:
        return None
    classes = [1] if probabilities.shape[1] == 2 else present.tolist()
    return float(np.mean([roc_auc_score(truth == k, probabilities[:, k]) for k in classes]))


def mean_log_loss(truth: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return the average negative logarithm of the probability of the true class."""
    n_classes = probabilities.shape[1]
    return float(log_loss(truth, probabilities, labels=np.arange(n_classes))) if n_classes > 1 else 0.0


def calibration_bins(truth: NDArray[np.int64], probabilities: NDArray[np.float64]) -> CalibrationBins:
    """Compare probabilities with frequencies, in bins of equal width.

    The probability is that of the second of two classes; with more classes, that of the most probable one.
    """
    if probabilities.shape[1] == 2:
        probability, is_event = probabilities[:, 1], truth == 1
    else:
        probability, is_event = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    place = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
    count, predicted, events = (
        np.bincount(place, weights=values, minlength=N_BINS)
        for values in (np.ones(truth.size), probability, is_event)
    )
    filled = np.flatnonzero(count)
    error = np.abs(predicted[filled] - events[filled]).sum() / truth.size
    return CalibrationBins(
        predicted[filled] / count[filled],
        events[filled] / count[filled],
        count[filled].astype(np.int64),
        float(error),
    )


def label_quality(truth: NDArray[np.int64], predicted: NDArray[np.int64], classes: list[int]) -> LabelQuality:
    """Measure recall and precision of some classes.

    Parameters
    ----------
    truth : class indices; -1 is a label unknown to the model
    predicted : class indices
    classes : indices of the classes
    """
    precision, recall, _, n_rows = precision_recall_fscore_support(
        truth, predicted, labels=classes, zero_division=np.nan
    )
    n_predicted = np.bincount(predicted, minlength=max(classes) + 1)[classes]
    return LabelQuality(n_rows, n_predicted, recall, precision)
