"""Values of lambda, the price of cost, for which stopping rules are learnt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.stopping.out_of_fold import StoppingData
from budgetprune.staged.stopping.thresholds import learn_thresholds, stopping_stage

# Lambdas that are tried first, and at most; costs of neighbours should differ by no more than this factor.
_N_FIRST, _N_LAMS, _FACTOR = 24, 96, 1.03
# More rows change costs of whole stages little.
_MOST_ROWS = 20_000


def choose_lambdas(evidence: StoppingData) -> NDArray[np.float64]:
    """Choose prices of cost from "buy nothing" to "buy whatever helps at all", in falling order.

    Above the first one, even the largest loss there is would not pay for the cheapest stage; the last is 0.
    In between they are as close as costs ask for.
    """
    prices = evidence.price[evidence.price > 0]
    if not prices.size:
        return np.zeros(1)
    evidence = evidence[np.arange(min(_MOST_ROWS, len(evidence.loss)))]
    worst = float(np.average(evidence.loss[:, 0], weights=evidence.weight))
    if worst <= 0:
        worst = float(evidence.loss.max()) or 1.0
    lams = np.geomspace(2 * worst / prices.min(), 1e-4 * worst / prices.sum(), _N_FIRST)
    cost = _costs(evidence, lams)
    while lams.size < _N_LAMS:
        ratio = np.maximum(cost[1:], prices.min()) / np.maximum(cost[:-1], prices.min())
        wide = np.flatnonzero(ratio > _FACTOR)
        # Where two lambdas are as good as equal, costs jump, because all rows are alike there.
        wide = wide[lams[wide] > 1.001 * lams[wide + 1]]
        if not wide.size:
            break
        wide = wide[np.argsort(-ratio[wide], kind="stable")[: _N_LAMS - lams.size]]
        between = np.sqrt(lams[wide] * lams[wide + 1])
        lams, cost = np.append(lams, between), np.append(cost, _costs(evidence, between))
        order = np.argsort(-lams)
        lams, cost = lams[order], cost[order]
    return np.append(lams, 0.0)


def _costs(evidence: StoppingData, lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average cost for each lambda, on the rows that thresholds are learnt from."""
    paid = np.cumsum(evidence.price)
    thresholds = learn_thresholds(evidence, lams)
    stages = [stopping_stage(evidence.uncertainty, each) for each in thresholds]
    return np.array([np.average(paid[stage], weights=evidence.weight) for stage in stages])
