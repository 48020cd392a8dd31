"""The curve of a staged model: stopping rules for many prices of cost, as cross-fitting saw them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING
from budgetprune.staged.stopping import Evidence, learn_thresholds, rules_between, stops_at, useful_lams
from budgetprune.staged.training import Fold

if TYPE_CHECKING:
    import pandas as pd

# Scores of rows, given the outputs at the stage where each stops.
Score = Callable[[NDArray[np.intp], NDArray[np.float64]], float]


@dataclass(frozen=True, eq=False, repr=False)
class StagedTradeOff:
    """What each budget buys, as rows saw it that had no part in training or in the stopping rule.

    Points are in order of their cost, and each has a better score than all cheaper ones; where wrong answers
    have prices (`error_costs`), each has a smaller loss than all cheaper ones, and no point costs more in all
    (cost and loss) than a cheaper one, up to the one that costs least in all. If no point of a classifier has
    a better accuracy than buying nothing, each has a smaller log loss than all cheaper ones.

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
    best : number of the best stage
    """

    evidence: Evidence
    loss: NDArray[np.float64]
    outputs: Sequence[NDArray[np.float64]]
    best: int


def all_points(chains: Sequence[Crossed], folds: Sequence[Fold], score: Score) -> StagedTradeOff:
    """Learn stopping rules for many lambdas, and judge them by cross-fitting; chain by chain."""
    return _join([_points_of(number, crossed, folds, score) for number, crossed in enumerate(chains)])


def best_points(
    found: StagedTradeOff,
    is_candidate: NDArray[np.bool_],
    *,
    by_loss: bool = False,
    in_unit_of_costs: bool = False,
    keeps_everything: bool = False,
) -> StagedTradeOff:
    """Choose the points that are better than all cheaper ones, in order of their cost.

    Parameters
    ----------
    found : StagedTradeOff
    is_candidate : bool array of shape (n_points,)
    by_loss : bool
        Whether points with less loss are better, or points with a higher score.
    in_unit_of_costs : bool
        Whether losses have the unit of the prices. Points at which cost and loss together are more than at a
        cheaper one are left out then, if a more expensive one is better: no budget should lead to them.
    keeps_everything : bool
        Whether the last point is the one at which all rows go to the last stage of the first chain, whatever
        its score is.
    """
    value = -found.loss if by_loss else found.score
    best, kept = -np.inf, []
    for i in np.lexsort((-value, found.cost)).tolist():
        if is_candidate[i] and value[i] > best:
            best = value[i]
            kept.append(i)
    everything = int(np.flatnonzero(found.chain == 0)[-1])
    if keeps_everything and everything not in kept:
        kept = [i for i in kept if found.cost[i] < found.cost[everything]] + [everything]
    points = np.array(kept, dtype=np.intp)
    if in_unit_of_costs:
        total = (found.cost + found.loss)[points]
        is_better = total < np.minimum.accumulate(np.append(np.inf, total[:-1]))
        points = points[is_better | (np.arange(points.size) > np.argmin(total))]
    return found.take(points)


def _points_of(number: int, crossed: Crossed, folds: Sequence[Fold], score: Score) -> StagedTradeOff:
    """Find the points of one chain.

    Rules that are learnt from other rows for the same lambda may be quite different, where costs jump. So a
    rule is judged by those that cost as much as it does, on the rows that each was learnt from.
    """
    evidence = crossed.evidence
    lams = useful_lams(evidence)
    learnt = learn_thresholds(evidence, lams)
    between, lams_between = rules_between(evidence, learnt, lams, _costs_and_stops(evidence, learnt)[0])
    fixed = _fixed_rules(evidence.price.size)
    rules = np.concatenate([learnt, between, fixed])
    cost, stops = _costs_and_stops(evidence, rules)
    size = np.array([test.size for _, test in folds], dtype=np.float64)
    n_flexible = len(rules) - len(fixed)
    judged = np.array([_judge(crossed, fold, lams, cost[:n_flexible], score) for fold in folds])
    mean, spread = np.average(judged, axis=0, weights=size), judged.std(axis=0)
    return StagedTradeOff(
        cost=mean[0],
        score=mean[1],
        cost_std=spread[0],
        score_std=spread[1],
        loss=mean[2],
        lam=np.concatenate([lams, lams_between, np.zeros(len(fixed))]),
        chain=np.full(len(rules), number),
        thresholds=tuple(rules),
        stops=tuple(stops),
        stage_score=(mean[1, n_flexible:],),
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
    found : cost, score and loss, of shape (3, n_costs + n_stages)
        Of rules that have the given costs on the rows that they are learnt from: between two of them, values
        are interpolated. Then those of the rules by which all rows stop at the same stage.
    """
    train, test = fold
    evidence = crossed.evidence[test]
    paid = np.cumsum(evidence.price)
    learnt = learn_thresholds(crossed.evidence[train], lams)
    rules = np.concatenate([learnt, _fixed_rules(paid.size)])
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
    known = _costs_and_stops(crossed.evidence[train], learnt)[0]
    order = np.argsort(known, kind="stable")
    at_cost = [np.interp(cost, known[order], values[: lams.size][order]) for values in found]
    return np.concatenate([at_cost, found[:, lams.size :]], axis=1)


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


def _fixed_rules(n_stages: int) -> NDArray[np.float64]:
    """Make the rules by which all rows stop at the same stage, one for each stage."""
    return np.where(np.arange(n_stages) < np.arange(n_stages)[:, np.newaxis], -np.inf, np.inf)
