"""Training losses of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.sample import LearningSample, Scores


def mean_loss(sample: LearningSample, scores: Scores) -> float:
    """Compute the weighted mean of the training loss."""
    return float(np.average(row_losses(sample, scores), weights=sample.weight))


def row_losses(sample: LearningSample, scores: Scores) -> NDArray[np.float64]:
    """Compute the training loss of each row: log loss, squared error, or gamma deviance."""
    if sample.kind == "binary":
        sign = np.where(sample.target == 1, -1.0, 1.0)
        loss = np.logaddexp(0, sign * scores[:, 0])
    elif sample.kind == "multiclass":
        loss = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(sample)), sample.target]
    elif sample.kind == "regression":
        loss = (sample.target - scores[:, 0]) ** 2
    else:
        loss = scores[:, 0] + sample.target * np.exp(-scores[:, 0])
    return np.asarray(loss)
