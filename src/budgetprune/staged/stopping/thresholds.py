"""When to stop: thresholds of the uncertainty, learnt by backward induction.

The last stage always stops. At any earlier stage, a row either stops, with the loss of its answer there, or
goes on, with the price of the next stage and what follows from there. Going on is worth more for answers that
are more uncertain; so a stage needs one threshold, and a row goes on if its uncertainty is above it. From the
last stage back, each threshold is the one that loses least on rows that had no part in training.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING
from budgetprune.staged.stopping.out_of_fold import StoppingData

# Rows are sorted into at most this many groups by their uncertainty; a threshold lies between two groups. So
# thresholds are not fitted to single rows.
MOST_GROUPS = 1024


def learn_thresholds(evidence: StoppingData, lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the thresholds for each price of cost.

    Parameters
    ----------
    evidence : StoppingData
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


def stopping_stage(uncertainty: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.intp]:
    """Find the stage where each row stops, given uncertainties of shape (n_rows, n_stages)."""
    return np.asarray(np.argmax(uncertainty <= thresholds, axis=1))


def effective_thresholds(
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
