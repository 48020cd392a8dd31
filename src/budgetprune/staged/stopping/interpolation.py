"""Interpolation between stopping rules whose costs are far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.stopping.out_of_fold import StoppingData

# Largest ratio of neighbouring costs without interpolation, and maximum number of rules between two others.
_LARGEST_GAP, _MOST_BETWEEN = 1.1, 8


def interpolate_rules(
    data: StoppingData,
    rules: NDArray[np.float64],
    lams: NDArray[np.float64],
    cost: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rules between those whose costs are far apart because many rows stop or go on together.

    At each stage, the share of the rows above the threshold is interpolated between the two rules.

    Parameters
    ----------
    data : StoppingData
    rules : float64 array of shape (n_rules, n_stages)
    lams, cost : float64 arrays of shape (n_rules,)

    Returns
    -------
    thresholds : float64 array of shape (n_found, n_stages)
    lams : float64 array of shape (n_found,)
        Of the cheaper rule.
    """
    order = np.argsort(cost, kind="stable")
    ranked = np.sort(data.uncertainty, axis=0)
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
