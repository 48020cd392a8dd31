"""Points of the trade-off curve: stopping rules for many lambdas, evaluated by cross-fitting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.data.folds import Fold
from budgetprune.staged.model.tradeoff import StagedTradeOff
from budgetprune.staged.stopping.interpolation import interpolate_rules
from budgetprune.staged.stopping.lambdas import choose_lambdas
from budgetprune.staged.stopping.out_of_fold import OutOfFoldResults, StoppingData
from budgetprune.staged.stopping.thresholds import learn_thresholds, stopping_stage

# Score of some rows (indices), given their outputs at the stages where they stop.
Score = Callable[[NDArray[np.intp], NDArray[np.float64]], float]


def cross_fitted_points(
    chains: Sequence[OutOfFoldResults], folds: Sequence[Fold], score: Score
) -> StagedTradeOff:
    """Learn stopping rules for many lambdas for each chain, and evaluate them by cross-fitting."""
    return _join([_points_of(number, results, folds, score) for number, results in enumerate(chains)])


def _points_of(number: int, results: OutOfFoldResults, folds: Sequence[Fold], score: Score) -> StagedTradeOff:
    """Return the points of one chain.

    Where the cost jumps, rules learnt from different rows for the same lambda can differ much. So the score
    of a rule is estimated from the rules of the folds with the same cost, not with the same lambda. The cost
    of each rule is measured on the rows that it was learnt from.
    """
    data = results.stopping_data
    lams = choose_lambdas(data)
    learnt = learn_thresholds(data, lams)
    between, lams_between = interpolate_rules(data, learnt, lams, _costs_and_stops(data, learnt)[0])
    fixed = _fixed_rules(data.price.size)
    rules = np.concatenate([learnt, between, fixed])
    cost, stops = _costs_and_stops(data, rules)
    size = np.array([test.size for _, test in folds], dtype=np.float64)
    n_flexible = len(rules) - len(fixed)
    of_folds = np.array([_evaluate_fold(results, fold, lams, cost[:n_flexible], score) for fold in folds])
    mean, spread = np.average(of_folds, axis=0, weights=size), of_folds.std(axis=0)
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


def _evaluate_fold(
    results: OutOfFoldResults, fold: Fold, lams: NDArray[np.float64], cost: NDArray[np.float64], score: Score
) -> NDArray[np.float64]:
    """Learn rules from the rows outside a fold, and evaluate them on its rows.

    Returns
    -------
    found : float64 array of shape (3, n_costs + n_stages)
        Cost, score and loss of rules with the given costs on the rows that they are learnt from, interpolated
        between the learnt rules; then of the rules by which all rows stop at the same stage.
    """
    train, test = fold
    data = results.stopping_data[test]
    paid = np.cumsum(data.price)
    learnt = learn_thresholds(results.stopping_data[train], lams)
    rules = np.concatenate([learnt, _fixed_rules(paid.size)])
    found = np.empty((3, len(rules)))
    rows = np.arange(test.size)
    for i, thresholds in enumerate(rules):
        stage = stopping_stage(data.uncertainty, thresholds)
        outputs = np.empty((test.size, results.outputs[0].shape[1]))
        for k in np.unique(stage).tolist():
            outputs[stage == k] = results.outputs[k][test[stage == k]]
        found[0, i] = np.average(paid[stage], weights=data.weight)
        found[1, i] = score(test, outputs)
        found[2, i] = np.average(results.loss[test][rows, stage], weights=data.weight)
    known = _costs_and_stops(results.stopping_data[train], learnt)[0]
    order = np.argsort(known, kind="stable")
    at_cost = [np.interp(cost, known[order], values[: lams.size][order]) for values in found]
    return np.concatenate([at_cost, found[:, lams.size :]], axis=1)


def _costs_and_stops(
    data: StoppingData, rules: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the average cost of each rule, and the share of the rows that stop at each stage."""
    total = data.weight.sum()
    n_stages = data.price.size
    stops = np.array(
        [
            np.bincount(stopping_stage(data.uncertainty, rule), weights=data.weight, minlength=n_stages)
            for rule in rules
        ]
    )
    stops /= total
    return stops @ np.cumsum(data.price), stops


def _fixed_rules(n_stages: int) -> NDArray[np.float64]:
    """Return the rules by which all rows stop at the same stage, one for each stage."""
    return np.where(np.arange(n_stages) < np.arange(n_stages)[:, np.newaxis], -np.inf, np.inf)
