"""Residuals of out-of-fold predictions at each point of the curve, for prediction intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from budgetprune.predictor import Residuals
from budgetprune.staged.model.tradeoff import StagedTradeOff
from budgetprune.staged.stopping.out_of_fold import OutOfFoldResults
from budgetprune.staged.stopping.thresholds import effective_thresholds, stopping_stage


def out_of_fold_residuals(
    curve: StagedTradeOff, results: Sequence[OutOfFoldResults], target: NDArray[np.float64], max_cost: float
) -> Residuals:
    """Measure residuals where each row stops, divided by the root of its expected squared error.

    Parameters
    ----------
    curve : StagedTradeOff
    results : out-of-fold results of each chain
    target : of the rows
    max_cost : limit of the cost of a row
    """
    found = np.empty((len(curve), target.size))
    rows = np.arange(target.size)
    for point, number in enumerate(curve.chain.tolist()):
        data, outputs = results[number].stopping_data, results[number].outputs
        thresholds, last = effective_thresholds(curve.thresholds[point], data.price, max_cost)
        thresholds[last] = np.inf
        stage = stopping_stage(data.uncertainty, thresholds)
        prediction, error = (np.column_stack([each[:, k] for each in outputs])[rows, stage] for k in (0, 1))
        found[point] = (target - prediction) / np.sqrt(error)
    return Residuals.of(found)
