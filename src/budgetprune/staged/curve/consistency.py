"""Check that points cost as much with the final stages, trained on all rows, as in cross-fitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.model.chain import Chain
from budgetprune.staged.model.objective import Objective
from budgetprune.staged.model.tradeoff import StagedTradeOff
from budgetprune.staged.stopping.thresholds import stopping_stage

# Number of rows checked, and largest accepted ratio of their cost to the cross-fitted cost.
MOST_ROWS, MOST_RATIO = 5_000, 1.1
# A stage has few distinct uncertainties if there are at most FEW_VALUES, with ROWS_PER_VALUE rows for each.
# At such a stage, the share of the rows that stop may differ from cross-fitting by at most MOST_DIFFERENCE.
# Stages that less than LEAST_REACHED of the rows reach are not checked.
FEW_VALUES, ROWS_PER_VALUE, MOST_DIFFERENCE, LEAST_REACHED = 64, 20, 0.1, 0.01


def has_expected_cost(
    curve: StagedTradeOff,
    chains: Sequence[Chain],
    sample: LearningSample,
    objective: Objective,
    costs: CostTable,
) -> NDArray[np.bool_]:
    """Find the points at which training rows cost about as much as rows did in cross-fitting.

    With few rows, the stages of a fold differ from those trained on all rows. If many rows have the same
    uncertainty, all of them go on or none, so a small difference between stages can change the cost a lot.
    Predictions for training rows are less uncertain than for other rows, so a higher cost on training rows is
    not a random error. Points at which all rows stop at the same stage always have their expected cost.
    """
    few = sample.take(np.arange(min(len(sample), MOST_ROWS)))
    uncertain = [_uncertainty(chain, few.rows, objective) for chain in chains]
    paid = [np.cumsum([costs.price[list(stage.sources)].sum() for stage in chain.stages]) for chain in chains]
    most = min(FEW_VALUES, len(few) // ROWS_PER_VALUE)
    has_few_values = [np.array([np.unique(column).size <= most for column in each.T]) for each in uncertain]
    found = np.empty(len(curve), dtype=np.bool_)
    for i, (chain, thresholds) in enumerate(zip(curve.chain.tolist(), curve.thresholds, strict=True)):
        if np.all(np.isinf(thresholds)):
            found[i] = True
            continue
        stage = stopping_stage(uncertain[chain], thresholds)
        weight: NDArray[Any] = np.bincount(stage, weights=few.weight, minlength=thresholds.size)
        stops = weight / weight.sum()
        differs = np.abs(_stopping(stops) - _stopping(curve.stops[i])) > MOST_DIFFERENCE
        found[i] = stops @ paid[chain] <= MOST_RATIO * curve.cost[i]
        found[i] &= not np.any(differs & has_few_values[chain])
    return found


def _stopping(stops: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the rows reaching a stage that stop there, by stage; NaN if very few rows reach it."""
    reached = np.cumsum(stops[::-1])[::-1]
    return np.divide(stops, reached, out=np.full_like(stops, np.nan), where=reached > LEAST_REACHED)


def _uncertainty(chain: Chain, rows: NDArray[np.float64], objective: Objective) -> NDArray[np.float64]:
    """Compute the uncertainty of all rows at all stages, of shape (n_rows, n_stages)."""
    scores, found = None, []
    for k in range(len(chain)):
        scores = chain.advance(k, rows, scores)
        found.append(objective.uncertainty(chain.outputs(k, rows, scores)))
    return np.column_stack(found)
