"""The curve of a staged model: stopping rules for many prices of cost, as cross-fitting saw them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged._stopping import Evidence, learn_thresholds, stops_at, useful_lams
from budgetprune.staged._training import Fold

if TYPE_CHECKING:
    import pandas as pd

# Scores of rows, given the outputs at the stage where each stops.
Score = Callable[[NDArray[np.intp], NDArray[np.float64]], float]


@dataclass(frozen=True, eq=False, repr=False)
class StagedTradeOff:
    """What each budget buys, as rows saw it that had no part in training or in the stopping rule.

    Points are in order of their cost, and each has a better score than all cheaper ones.

    Attributes
    ----------
    cost, score : float64 arrays of shape (n_points,)
        Averages over the folds of cross-fitting.
    cost_std, score_std : float64 arrays of shape (n_points,)
        Standard deviations over the folds.
    loss : float64 array of shape (n_points,)
        What wrong answers cost on average.
    lam : float64 array of shape (n_points,)
        How much loss a unit of cost is worth.
    chain : int array of shape (n_points,)
        Which chain of stages a point belongs to.
    thresholds : tuple of float64 arrays
        By stage: a row goes on if its uncertainty is above.
    stops : tuple of float64 arrays
        By stage: the share of the rows that stop there.
    """

    cost: NDArray[np.float64]
    score: NDArray[np.float64]
    cost_std: NDArray[np.float64]
    score_std: NDArray[np.float64]
    loss: NDArray[np.float64]
    lam: NDArray[np.float64]
    chain: NDArray[np.intp]
    thresholds: tuple[NDArray[np.float64], ...]
    stops: tuple[NDArray[np.float64], ...]

    def __len__(self) -> int:
        return self.cost.size

    def __repr__(self) -> str:
        return f"StagedTradeOff({len(self)} points, cost {self.cost[0]:.4g} to {self.cost[-1]:.4g})"

    def to_frame(self) -> pd.DataFrame:
        """One row per point."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'budgetprune[pandas]'") from error
        names = ("cost", "cost_std", "score", "score_std", "loss", "lam", "chain")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def within(self, budget: float) -> int | None:
        """Number of the best point whose cost is within a budget; None if there is none."""
        n = int(np.searchsorted(self.cost, budget * (1 + 1e-12), side="right"))
        return n - 1 if n else None

    def cheapest_in_all(self) -> int:
        """Number of the point at which cost and loss together are least."""
        return int(np.argmin(self.cost + self.loss))

    def take(self, points: NDArray[np.intp]) -> StagedTradeOff:
        """Return some of the points."""
        arrays = ("cost", "score", "cost_std", "score_std", "loss", "lam", "chain")
        chosen: dict[str, Any] = {name: getattr(self, name)[points] for name in arrays}
        chosen |= {
            name: tuple(getattr(self, name)[i] for i in points.tolist()) for name in ("thresholds", "stops")
        }
        return StagedTradeOff(**chosen)


@dataclass(frozen=True, eq=False)
class Crossed:
    """All that is known about one chain from cross-fitting.

    Attributes
    ----------
    evidence : for stopping rules
    loss : float64 array of shape (n_rows, n_stages)
        By the labels alone.
    outputs : for each stage, of shape (n_rows, n_outputs)
    """

    evidence: Evidence
    loss: NDArray[np.float64]
    outputs: Sequence[NDArray[np.float64]]


def trade_off(chains: Sequence[Crossed], folds: Sequence[Fold], score: Score) -> StagedTradeOff:
    """Learn stopping rules for many lambdas, judge them by cross-fitting, and keep the best points."""
    size = np.array([test.size for _, test in folds], dtype=np.float64)
    columns: dict[str, list[Any]] = {name: [] for name in ("cost", "score", "loss", "lam", "chain")}
    thresholds: list[NDArray[np.float64]] = []
    stops: list[NDArray[np.float64]] = []
    for number, crossed in enumerate(chains):
        lams = useful_lams(crossed.evidence)
        thresholds.extend(learn_thresholds(crossed.evidence, lams))
        judged = [_judge(crossed, fold, lams, score) for fold in folds]
        for name, values in zip(
            ("cost", "score", "loss"), np.array([each[0] for each in judged]).transpose(1, 2, 0), strict=True
        ):
            columns[name].extend(values)
        stops.extend(np.average([each[1] for each in judged], axis=0, weights=size))
        columns["lam"].extend(lams)
        columns["chain"].extend([number] * lams.size)
    cost, scores, loss = (np.array(columns[name]) for name in ("cost", "score", "loss"))
    found = StagedTradeOff(
        np.average(cost, axis=1, weights=size),
        np.average(scores, axis=1, weights=size),
        cost.std(axis=1),
        scores.std(axis=1),
        np.average(loss, axis=1, weights=size),
        np.array(columns["lam"]),
        np.array(columns["chain"], dtype=np.intp),
        tuple(thresholds),
        tuple(stops),
    )
    return found.take(_best_points(found))


def _judge(
    crossed: Crossed, fold: Fold, lams: NDArray[np.float64], score: Score
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Learn from rows outside a fold, and judge by its rows.

    Returns
    -------
    found : cost, score and loss, of shape (3, n_lams)
    stops : share of the rows that stop at each stage, of shape (n_lams, n_stages)
    """
    train, test = fold
    evidence = crossed.evidence[test]
    paid = np.cumsum(evidence.price)
    found, stops = np.empty((3, lams.size)), np.empty((lams.size, paid.size))
    rows = np.arange(test.size)
    for i, thresholds in enumerate(learn_thresholds(crossed.evidence[train], lams)):
        stage = stops_at(evidence.uncertainty, thresholds)
        outputs = np.empty((test.size, crossed.outputs[0].shape[1]))
        for k in np.unique(stage).tolist():
            outputs[stage == k] = crossed.outputs[k][test[stage == k]]
        found[0, i] = np.average(paid[stage], weights=evidence.weight)
        found[1, i] = score(test, outputs)
        found[2, i] = np.average(crossed.loss[test][rows, stage], weights=evidence.weight)
        stops[i] = np.bincount(stage, weights=evidence.weight, minlength=paid.size) / evidence.weight.sum()
    return found, stops


def _best_points(found: StagedTradeOff) -> NDArray[np.intp]:
    """Choose the points that have a better score than all cheaper ones, in order of their cost."""
    order = np.lexsort((-found.score, found.cost))
    best, kept = -np.inf, []
    for i in order.tolist():
        if found.score[i] > best:
            best = found.score[i]
            kept.append(i)
    return np.array(kept, dtype=np.intp)
