"""Stopping rules of a cascade: thresholds on margins, learnt by backward induction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.subset_models import margin
from budgetprune.selection import Index, LabelledRows

Floats = NDArray[np.float64]
Numbers = NDArray[np.int16]
N_LAMBDAS = 100
VALUES_AT_A_TIME = 5_000_000


@dataclass(frozen=True, eq=False)
class StoppingRules:
    """Stopping rules for several values of lam, the smallest last.

    Attributes
    ----------
    lam : float64 array of shape (n_rules,)
        Loss per unit of cost.
    threshold : float64 array of shape (n_rules, n_stages)
        Rows whose margin is smaller go on.
    cost, accuracy : float64 arrays of shape (n_rules,)
        Averages over the rows used to learn the rules.
    """

    lam: Floats
    threshold: Floats
    cost: Floats
    accuracy: Floats


@dataclass(frozen=True, eq=False)
class Stages:
    """Margins, losses and prices of rows at each stage of a cascade.

    Attributes
    ----------
    margin, loss : float64 arrays of shape (n_rows, n_stages)
        Margin of the stage's model, and loss if the row stops there.
    price : float64 array of shape (n_stages,)
        Total price of the sources up to the stage.
    """

    margin: Floats
    loss: Floats
    price: Floats

    @classmethod
    def of(cls, shares: Sequence[Floats], rows: LabelledRows, price: Floats) -> Stages:
        """Make stages from the probabilities of each model; the loss of an error is the row's weight."""
        wrong = np.column_stack([share.argmax(axis=1) != rows.y for share in shares]).astype(np.float64)
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight / rows.weight.mean()
        margins = np.column_stack([margin(share) for share in shares])
        return cls(margins, weight[:, np.newaxis] * wrong, price)

    def take(self, rows: Index) -> Stages:
        """Select rows."""
        return Stages(self.margin[rows], self.loss[rows], self.price)

    def lambdas(self) -> Floats:
        """Values of lam, from one at which no row pays beyond the first stage down to 0."""
        step = np.diff(self.price)
        if not (step > 0).any() or not self.loss.any():
            return np.zeros(1)
        # Largest: a step saves at most the largest loss. Smallest: all steps of all rows cost one row's loss.
        largest = 2 * self.loss.max() / step[step > 0].min()
        smallest = self.loss.max() / (len(self.loss) * (self.price[-1] - self.price[0]))
        return np.append(np.geomspace(largest, smallest, N_LAMBDAS), 0.0)

    def thresholds(self, lam: Floats) -> Floats:
        """Best threshold of each stage, from the last one back, of shape (n_lams, n_stages).

        At a stage, a row either stops, at the cost of its loss, or goes on, at `lam` times the price of
        the next stage plus the cost under the rules of later stages. The threshold minimises the total.
        (This equals the zero of a decreasing function of the margin, fitted to the difference by isotonic
        regression.)
        """
        # In small batches, to limit memory.
        n_pieces = 1 + lam.size * len(self.loss) // VALUES_AT_A_TIME
        return np.concatenate([self._thresholds(some) for some in np.array_split(lam, n_pieces)])

    def _thresholds(self, lam: Floats) -> Floats:
        n_stages = self.price.size
        threshold = np.full((lam.size, n_stages), -np.inf)
        later = np.tile(self.loss[:, -1], (lam.size, 1))
        for k in reversed(range(n_stages - 1)):
            later = lam[:, np.newaxis] * (self.price[k + 1] - self.price[k]) + later
            threshold[:, k] = _best_thresholds(self.margin[:, k], self.loss[:, k] - later)
            goes_on = self.margin[:, k] < threshold[:, k, np.newaxis]
            later = np.where(goes_on, later, self.loss[:, k])
        return threshold

    def stopped(self, threshold: Floats) -> Numbers:
        """Index of the stage where each row stops, of shape (n_rules, n_rows)."""
        n_stages = self.price.size
        stage = np.full((len(threshold), len(self.loss)), n_stages - 1, dtype=np.int16)
        for k in reversed(range(n_stages - 1)):
            stage[self.margin[:, k] >= threshold[:, k, np.newaxis]] = k
        return stage

    def rules(self, lam: Floats) -> StoppingRules:
        """Learn rules on these rows, with their cost and accuracy here."""
        threshold = self.thresholds(lam)
        stages, rows = self.stopped(threshold), np.arange(len(self.loss))
        cost = np.array([self.price[stage].mean() for stage in stages])
        loss = np.array([self.loss[rows, stage].mean() for stage in stages])
        return StoppingRules(lam, threshold, cost, 1 - loss)

    def cross_fitted(self, lam: Floats, parts: Iterable[tuple[Index, Index]]) -> Numbers:
        """Index of the stage where each row stops by rules of other rows, of shape (n_lams, n_rows).

        Parameters
        ----------
        lam : float64 array
        parts : pairs of int arrays
            Rows to learn rules on, and rows to apply them to; every row is among the latter once.
        """
        stage = np.empty((lam.size, len(self.loss)), dtype=np.int16)
        for learned, applied in parts:
            stage[:, applied] = self.take(applied).stopped(self.take(learned).thresholds(lam))
        return stage


def _best_thresholds(margins: Floats, gain: Floats) -> Floats:
    """For each row of `gain`: the threshold below which the sum of gains is largest.

    Parameters
    ----------
    margins : of shape (n_rows,)
    gain : of shape (n_lams, n_rows)
        Gain if the row goes on.
    """
    order = np.argsort(margins, kind="stable")
    is_first = np.append(True, np.diff(margins[order]) > 0)
    # Rows with equal margins go on together. On ties, the fewest rows go on.
    total = np.cumsum(gain[:, order], axis=1)[:, np.append(is_first[1:], True)]
    total = np.column_stack([np.zeros(len(gain)), total])
    candidates = np.concatenate([[-np.inf], margins[order][is_first][1:], [np.inf]])
    return np.asarray(candidates[total.argmax(axis=1)])
