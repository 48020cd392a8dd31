"""The curve of a staged model: stopping rules for many prices of cost, as cross-fitting saw them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING
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
        How much loss a unit of cost is worth; 0 where all rows stop at the same stage.
    chain : int array of shape (n_points,)
        Which chain of stages a point belongs to.
    thresholds : tuple of float64 arrays
        By stage: a row goes on if its uncertainty is above.
    stops : tuple of float64 arrays
        By stage: the share of the rows that stop there.
    stage_score : tuple of float64 arrays
        For each chain, not for each point: the score if all rows stop at a stage, by stage. Empty if it is
        not known.
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
    stage_score: tuple[NDArray[np.float64], ...] = ()

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
        n = int(np.searchsorted(self.cost, budget * ROUNDING, side="right"))
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
        return StagedTradeOff(**chosen, stage_score=self.stage_score)


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


def trade_off(
    chains: Sequence[Crossed], folds: Sequence[Fold], score: Score, *, keeps_everything: bool = False
) -> StagedTradeOff:
    """Learn stopping rules for many lambdas, judge them by cross-fitting, and keep the best points.

    With `keeps_everything`, the last point is the one at which all rows go to the last stage of the first
    chain, whatever its score is.
    """
    found = [_points_of(number, crossed, folds, score) for number, crossed in enumerate(chains)]
    joined = _join(found)
    kept = _best_points(joined)
    everything = len(found[0]) - 1
    if keeps_everything and everything not in kept:
        kept = np.append(kept[joined.cost[kept] < joined.cost[everything]], everything)
    return joined.take(kept)


def _points_of(number: int, crossed: Crossed, folds: Sequence[Fold], score: Score) -> StagedTradeOff:
    """Find the points of one chain.

    Rules that are learnt from other rows for the same lambda may be quite different, where costs jump. So a
    rule is judged by those that cost as much as it does, on the rows that each was learnt from.
    """
    lams = useful_lams(crossed.evidence)
    rules = _all_rules(crossed.evidence, lams)
    cost, stops = _costs_and_stops(crossed.evidence, rules)
    size = np.array([test.size for _, test in folds], dtype=np.float64)
    judged = np.array([_judge(crossed, fold, lams, cost, score) for fold in folds])
    mean, spread = np.average(judged, axis=0, weights=size), judged.std(axis=0)
    return StagedTradeOff(
        cost=mean[0],
        score=mean[1],
        cost_std=spread[0],
        score_std=spread[1],
        loss=mean[2],
        lam=np.append(lams, np.zeros(len(rules) - lams.size)),
        chain=np.full(len(rules), number),
        thresholds=tuple(rules),
        stops=tuple(stops),
        # The rules by which all rows stop at the same stage come last.
        stage_score=(mean[1, lams.size :],),
    )


def _join(curves: Sequence[StagedTradeOff]) -> StagedTradeOff:
    joined: dict[str, Any] = {}
    for field in fields(StagedTradeOff):
        parts = [getattr(curve, field.name) for curve in curves]
        is_tuple = isinstance(parts[0], tuple)
        joined[field.name] = sum(parts, ()) if is_tuple else np.concatenate(parts)
    return StagedTradeOff(**joined)


def _judge(
    crossed: Crossed, fold: Fold, lams: NDArray[np.float64], cost: NDArray[np.float64], score: Score
) -> NDArray[np.float64]:
    """Learn rules from rows outside a fold, and judge by its rows.

    Returns
    -------
    found : cost, score and loss, of shape (3, n_rules)
        Of rules that have the given costs on the rows that they are learnt from.
    """
    train, test = fold
    evidence = crossed.evidence[test]
    paid = np.cumsum(evidence.price)
    rules = _all_rules(crossed.evidence[train], lams)
    found = np.empty((3, len(rules)))
    rows = np.arange(test.size)
    for i, thresholds in enumerate(rules):
        stage = stops_at(evidence.uncertainty, thresholds)
        outputs = np.empty((test.size, crossed.outputs[0].shape[1]))
        for k in np.unique(stage).tolist():
            outputs[stage == k] = crossed.outputs[k][test[stage == k]]
        found[0, i] = np.average(paid[stage], weights=evidence.weight)
        found[1, i] = score(test, outputs)
        found[2, i] = np.average(crossed.loss[test][rows, stage], weights=evidence.weight)
    learnt = slice(0, lams.size)
    known = _costs_and_stops(crossed.evidence[train], rules[learnt])[0]
    order = np.argsort(known, kind="stable")
    for values in found:
        values[learnt] = np.interp(cost[learnt], known[order], values[learnt][order])
    return found


def _costs_and_stops(
    evidence: Evidence, rules: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the average cost of each rule, and the share of the rows that stop at each stage."""
    total = evidence.weight.sum()
    n_stages = evidence.price.size
    stops = np.array(
        [
            np.bincount(stops_at(evidence.uncertainty, rule), weights=evidence.weight, minlength=n_stages)
            for rule in rules
        ]
    )
    stops /= total
    return stops @ np.cumsum(evidence.price), stops


def _all_rules(evidence: Evidence, lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Learn a rule for each lambda; then come those by which all rows stop at the same stage."""
    n_stages = evidence.price.size
    fixed = np.where(np.arange(n_stages) < np.arange(n_stages)[:, np.newaxis], -np.inf, np.inf)
    return np.concatenate([learn_thresholds(evidence, lams), fixed])


def _best_points(found: StagedTradeOff) -> NDArray[np.intp]:
    """Choose the points that have a better score than all cheaper ones, in order of their cost."""
    order = np.lexsort((-found.score, found.cost))
    best, kept = -np.inf, []
    for i in order.tolist():
        if found.score[i] > best:
            best = found.score[i]
            kept.append(i)
    return np.array(kept, dtype=np.intp)
