"""What points of a curve cost with the stages that are used, which were trained on all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.staged._chain import Chain
from budgetprune.staged._objective import Objective
from budgetprune.staged._points import StagedTradeOff
from budgetprune.staged._sample import Sample
from budgetprune.staged._stopping import stops_at

# Rows that are looked at, and how much more than in cross-fitting they may cost.
MOST_ROWS, MOST_RATIO = 5_000, 1.1


def costs_as_expected(
    curve: StagedTradeOff, chains: Sequence[Chain], sample: Sample, objective: Objective, costs: CostTable
) -> NDArray[np.bool_]:
    """Find the points at which training rows do not cost clearly more than rows did in cross-fitting.

    With few rows, the stages of a fold and those of all rows differ: where many rows are equally uncertain,
    either all of them go on or none. Rows are surer of what they were trained with, so that a cost that is
    larger is no chance. Points at which all rows stop at the same stage cost what they did.
    """
    few = sample.take(np.arange(min(len(sample), MOST_ROWS)))
    uncertain = [_uncertainty(chain, few.rows, objective) for chain in chains]
    paid = [np.cumsum([costs.price[list(stage.sources)].sum() for stage in chain.stages]) for chain in chains]
    seen = [
        np.average(paid[chain][stops_at(uncertain[chain], thresholds)], weights=few.weight)
        for chain, thresholds in zip(curve.chain.tolist(), curve.thresholds, strict=True)
    ]
    is_fixed = np.array([bool(np.all(np.isinf(thresholds))) for thresholds in curve.thresholds])
    found: NDArray[np.bool_] = is_fixed | (np.array(seen) <= MOST_RATIO * curve.cost)
    return found


def _uncertainty(chain: Chain, rows: NDArray[np.float64], objective: Objective) -> NDArray[np.float64]:
    """Compute the uncertainty of all rows at all stages, of shape (n_rows, n_stages)."""
    scores, found = None, []
    for k in range(len(chain)):
        scores = chain.advance(k, rows, scores)
        found.append(objective.uncertainty(chain.outputs(k, rows, scores)))
    return np.column_stack(found)
