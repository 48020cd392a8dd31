"""When to stop: thresholds of the uncertainty, learnt by backward induction.

The last stage always stops. At any earlier stage, a row either stops, with the loss of its answer there, or
goes on, with the price of the next stage and what follows from there. Going on is worth more for answers that
are more uncertain; so a stage needs one threshold, and a row goes on if its uncertainty is above it. From the
last stage back, each threshold is the one that loses least on rows that had no part in training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING

# Rows are sorted into at most this many groups by their uncertainty; a threshold lies between two groups. So
# thresholds are not fitted to single rows.
MOST_GROUPS = 1024


@dataclass(frozen=True, eq=False)
class Evidence:
    """What cross-fitting saw at each stage.

    Attributes
    ----------
    uncertainty, loss : float64 arrays of shape (n_rows, n_stages)
    price : float64 array of shape (n_stages,)
        What a row that goes on to a stage pays for it; 0 for the first one.
    weight : float64 array of shape (n_rows,)
    """

    uncertainty: NDArray[np.float64]
    loss: NDArray[np.float64]
    price: NDArray[np.float64]
    weight: NDArray[np.float64]

    def __getitem__(self, rows: NDArray[np.intp]) -> Evidence:
        """Return the evidence of some rows."""
        return Evidence(self.uncertainty[rows], self.loss[rows], self.price, self.weight[rows])


def learn_thresholds(evidence: Evidence, lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the thresholds for each price of cost.

    Parameters
    ----------
    evidence : Evidence
    lams : float64 array of shape (n_lams,)
        How much loss a unit of cost is worth.

    Returns
    -------
    thresholds : float64 array of shape (n_lams, n_stages)
        A row goes on if its uncertainty is above the threshold of its stage. ``inf``: all rows stop, as they
        do at the last stage.
    """
    n_stages = evidence.price.size
    groups = [_Groups(evidence.uncertainty[:, k], evidence.weight) for k in range(n_stages - 1)]
    thresholds = np.full((lams.size, n_stages), np.inf)
    for i, lam in enumerate(lams):
        value = evidence.loss[:, -1]
        for k in range(n_stages - 2, -1, -1):
            going_on = lam * evidence.price[k + 1] + value
            thresholds[i, k] = groups[k].best_threshold(evidence.loss[:, k] - going_on)
            value = np.where(evidence.uncertainty[:, k] > thresholds[i, k], going_on, evidence.loss[:, k])
    return thresholds


class _Groups:
    """Rows, sorted into groups by the uncertainty of one stage."""

    def __init__(self, uncertainty: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        levels = np.unique(uncertainty)
        if levels.size > MOST_GROUPS:
            # As many rows in each group, but rows of equal uncertainty are never parted.
            places = np.linspace(0, uncertainty.size - 1, MOST_GROUPS + 1)[1:].astype(np.intp)
            levels = np.unique(np.sort(uncertainty)[places])
        self._levels, self._weight = levels, weight
        self._group = np.searchsorted(levels, uncertainty)

    def best_threshold(self, gain: NDArray[np.float64]) -> float:
        """Find the threshold above which the gains add up to most; rows above it go on.

        It is where the increasing function that fits the gains best (isotonic regression) becomes positive.
        Of thresholds that are equally good, the largest.
        """
        per_group = np.bincount(self._group, weights=gain * self._weight, minlength=self._levels.size)
        above = np.cumsum(per_group[::-1])
        best = int(np.argmax(above))
        if above[best] <= 0:
            return np.inf
        n_below = self._levels.size - 1 - best
        return float(self._levels[n_below - 1]) if n_below > 0 else -np.inf


# Rules whose costs differ by more than this factor have others between them, at most so many.
_LARGEST_GAP, _MOST_BETWEEN = 1.1, 8


def rules_between(
    evidence: Evidence,
    rules: NDArray[np.float64],
    lams: NDArray[np.float64],
    cost: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fill the gaps between rules whose costs are far apart, because many rows go on or stop together.

    At each stage, the share of the rows above the threshold lies between the shares of the two rules.

    Parameters
    ----------
    evidence : Evidence
    rules : float64 array of shape (n_rules, n_stages)
    lams, cost : float64 arrays of shape (n_rules,)

    Returns
    -------
    thresholds : float64 array of shape (n_found, n_stages)
    lams : float64 array of shape (n_found,)
        Of the cheaper rule.
    """
    order = np.argsort(cost, kind="stable")
    ranked = np.sort(evidence.uncertainty, axis=0)
    n_rows = len(ranked)
    found, own_lams = [], []
    for a, b in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if cost[b] <= _LARGEST_GAP * cost[a]:
            continue
        n = _MOST_BETWEEN
        if cost[a] > 0:
            n = min(n, int(np.log(cost[b] / cost[a]) / np.log(_LARGEST_GAP)))
        above = [[np.sum(ranked[:, k] > rules[i, k]) for k in range(rules.shape[1])] for i in (a, b)]
        for part in np.arange(1, n + 1) / (n + 1):
            goes_on = np.rint((1 - part) * np.array(above[0]) + part * np.array(above[1])).astype(np.intp)
            level = ranked[np.clip(n_rows - 1 - goes_on, 0, None), np.arange(rules.shape[1])]
            level[goes_on == 0], level[goes_on == n_rows] = np.inf, -np.inf
            found.append(level)
            own_lams.append(lams[a])
    return np.array(found).reshape(-1, rules.shape[1]), np.array(own_lams)


def stops_at(uncertainty: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.intp]:
    """Find the stage where each row stops, given uncertainties of shape (n_rows, n_stages)."""
    return np.asarray(np.argmax(uncertainty <= thresholds, axis=1))


def applied(
    thresholds: NDArray[np.float64], price: NDArray[np.float64], most: float
) -> tuple[NDArray[np.float64], int]:
    """Return thresholds as rows meet them, and the last stage that they can pay for.

    Stages that cost nothing are always taken. The threshold of the last stage is left as it was learnt.

    Parameters
    ----------
    thresholds, price : by stage
    most : what a row may cost at most
    """
    found = thresholds.copy()
    found[:-1][price[1:] == 0] = -np.inf
    too_expensive = np.flatnonzero(np.cumsum(price) > most * ROUNDING)
    last = int(too_expensive[0]) - 1 if too_expensive.size else price.size - 1
    return found, last


# Lambdas that are tried first, and at most; costs of neighbours should differ by no more than this factor.
_N_FIRST, _N_LAMS, _FACTOR = 24, 96, 1.03
# More rows change costs of whole stages little.
_MOST_ROWS = 20_000


def useful_lams(evidence: Evidence) -> NDArray[np.float64]:
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


def _costs(evidence: Evidence, lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average cost for each lambda, on the rows that thresholds are learnt from."""
    paid = np.cumsum(evidence.price)
    thresholds = learn_thresholds(evidence, lams)
    stages = [stops_at(evidence.uncertainty, each) for each in thresholds]
    return np.array([np.average(paid[stage], weights=evidence.weight) for stage in stages])
