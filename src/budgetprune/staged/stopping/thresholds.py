"""Stopping rules: thresholds of the uncertainty, learnt by backward induction.

All rows stop at the last stage. At any earlier stage, a row either stops, with the loss of its answer there,
or goes on and pays the price of the next stage, with the loss and the further prices that follow. Going on is
worth more for uncertain answers, so each stage has one threshold: a row goes on if its uncertainty is above
it. Thresholds are learnt from the last stage to the first. Each minimises the total loss on out-of-fold rows,
given the later thresholds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING
from budgetprune.staged.stopping.out_of_fold import StoppingData

# Maximum number of groups of rows with similar uncertainty. Thresholds lie between groups, so that they do
# not overfit single rows.
MOST_GROUPS = 1024


def learn_thresholds(data: StoppingData, lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Learn the thresholds for each lambda.

    Parameters
    ----------
    data : StoppingData
    lams : float64 array of shape (n_lams,)
        Loss that a unit of cost is worth.

    Returns
    -------
    thresholds : float64 array of shape (n_lams, n_stages)
        A row goes on if its uncertainty is above the threshold of its stage. ``inf``: all rows stop; always
        so at the last stage.
    """
    n_stages = data.price.size
    groups = [_Groups(data.uncertainty[:, k], data.weight) for k in range(n_stages - 1)]
    thresholds = np.full((lams.size, n_stages), np.inf)
    for i, lam in enumerate(lams):
        value = data.loss[:, -1]
        for k in range(n_stages - 2, -1, -1):
            going_on = lam * data.price[k + 1] + value
            thresholds[i, k] = groups[k].best_threshold(data.loss[:, k] - going_on)
            value = np.where(data.uncertainty[:, k] > thresholds[i, k], going_on, data.loss[:, k])
    return thresholds


class _Groups:
    """Rows grouped by their uncertainty at one stage."""

    def __init__(self, uncertainty: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        levels = np.unique(uncertainty)
        if levels.size > MOST_GROUPS:
            # Groups of about equal size; rows of equal uncertainty stay in the same group.
            places = np.linspace(0, uncertainty.size - 1, MOST_GROUPS + 1)[1:].astype(np.intp)
            levels = np.unique(np.sort(uncertainty)[places])
        self._levels, self._weight = levels, weight
        self._group = np.searchsorted(levels, uncertainty)

    def best_threshold(self, gain: NDArray[np.float64]) -> float:
        """Find the threshold with the largest total gain of the rows above it; rows above it go on.

        There, the isotonic regression of the gains on the uncertainty becomes positive. Ties go to the
        largest threshold.
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
    """Adapt thresholds to the prices of one prediction; also return the last stage within its cost limit.

    All rows go on to stages that cost nothing. The threshold of the last stage is unchanged.

    Parameters
    ----------
    thresholds, price : float64 arrays of shape (n_stages,)
    most : maximum cost of a row
    """
    found = thresholds.copy()
    found[:-1][price[1:] == 0] = -np.inf
    too_expensive = np.flatnonzero(np.cumsum(price) > most * ROUNDING)
    last = int(too_expensive[0]) - 1 if too_expensive.size else price.size - 1
    return found, last
