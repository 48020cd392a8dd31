"""Values of lambda (the loss that a unit of cost is worth) for which stopping rules are learnt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.stopping.out_of_fold import StoppingData
from budgetprune.staged.stopping.thresholds import learn_thresholds, stopping_stage

# Initial and maximum number of lambdas, and largest ratio of the costs of neighbours.
_N_FIRST, _N_LAMS, _FACTOR = 24, 96, 1.03
# More rows change average costs little.
_MOST_ROWS = 20_000


def choose_lambdas(data: StoppingData) -> NDArray[np.float64]:
    """Choose lambdas in falling order, from acquiring nothing to acquiring everything that helps.

    At the first one, the average loss without any purchase is worth less than the cheapest stage; the last is
    0. Between them, values are added until the costs of neighbours are close.
    """
    prices = data.price[data.price > 0]
    if not prices.size:
        return np.zeros(1)
    data = data[np.arange(min(_MOST_ROWS, len(data.loss)))]
    worst = float(np.average(data.loss[:, 0], weights=data.weight))
    if worst <= 0:
        worst = float(data.loss.max()) or 1.0
    lams = np.geomspace(2 * worst / prices.min(), 1e-4 * worst / prices.sum(), _N_FIRST)
    cost = _costs(data, lams)
    while lams.size < _N_LAMS:
        ratio = np.maximum(cost[1:], prices.min()) / np.maximum(cost[:-1], prices.min())
        wide = np.flatnonzero(ratio > _FACTOR)
        # If two lambdas are almost equal, the cost jumps between them: many rows have the same uncertainty.
        wide = wide[lams[wide] > 1.001 * lams[wide + 1]]
        if not wide.size:
            break
        wide = wide[np.argsort(-ratio[wide], kind="stable")[: _N_LAMS - lams.size]]
        between = np.sqrt(lams[wide] * lams[wide + 1])
        lams, cost = np.append(lams, between), np.append(cost, _costs(data, between))
        order = np.argsort(-lams)
        lams, cost = lams[order], cost[order]
    return np.append(lams, 0.0)


def _costs(data: StoppingData, lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average cost for each lambda, on the rows that thresholds are learnt from."""
    paid = np.cumsum(data.price)
    thresholds = learn_thresholds(data, lams)
    stages = [stopping_stage(data.uncertainty, each) for each in thresholds]
    return np.array([np.average(paid[stage], weights=data.weight) for stage in stages])
