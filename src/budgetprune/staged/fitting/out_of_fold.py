"""Losses and uncertainties of out-of-fold outputs, under an objective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.fitting.spec import FitSpec
from budgetprune.staged.model.objective import Objective
from budgetprune.staged.stopping.out_of_fold import OutOfFoldResults, StoppingData

# Losses of few rows are noisy, so they are mixed with the losses that the best stage expects. The weight of
# the expected losses is that of this many rows.
SOFT_ROWS = 1000


def collect_results(
    spec: FitSpec, outputs: Sequence[NDArray[np.float64]], price: NDArray[np.float64], best: int
) -> OutOfFoldResults:
    """Compute losses and uncertainties of the out-of-fold outputs of a chain."""
    objective, weight = spec.objective, _loss_weight(spec)
    loss = weight * np.column_stack([objective.loss(each, spec.sample.target) for each in outputs])
    data = StoppingData(
        np.column_stack([objective.uncertainty(each) for each in outputs]),
        _smoothed(loss, weight, outputs, objective, best),
        price,
        spec.row_weight,
    )
    return OutOfFoldResults(data, loss, outputs, best)


def with_objective(spec: FitSpec, results: OutOfFoldResults) -> OutOfFoldResults:
    """Return the results of the same outputs under the objective of `spec`."""
    return collect_results(spec, results.outputs, results.stopping_data.price, results.best)


def _loss_weight(spec: FitSpec) -> NDArray[np.float64]:
    """Class weight of each row, 1 on average; of shape (n_rows, 1)."""
    if spec.sample.weight is None:
        return np.ones((len(spec.sample), 1))
    weight = spec.sample.weight / spec.row_weight
    return np.asarray(weight[:, np.newaxis] / np.average(weight, weights=spec.row_weight))


def _smoothed(
    loss: NDArray[np.float64],
    weight: NDArray[np.float64],
    outputs: Sequence[NDArray[np.float64]],
    objective: Objective,
    best: int,
) -> NDArray[np.float64]:
    """Mix losses of the labels with the losses that the best stage expects."""
    soft = weight * np.column_stack([objective.soft_loss(each, outputs[best]) for each in outputs])
    share = SOFT_ROWS / (SOFT_ROWS + len(loss))
    return (1 - share) * loss + share * soft
