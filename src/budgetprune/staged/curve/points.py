"""The curve of a staged model: stopping rules for many prices of cost, as cross-fitting saw them."""

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

# Scores of rows, given the outputs at the stage where each stops.
Score = Callable[[NDArray[np.intp], NDArray[np.float64]], float]


def cross_fitted_points(
    chains: Sequence[OutOfFoldResults], folds: Sequence[Fold], score: Score
) -> StagedTradeOff:
    """Learn stopping rules for many lambdas, and judge them by cross-fitting; chain by chain."""
    return _join([_points_of(number, results, folds, score) for number, results in enumerate(chains)])


def _points_of(number: int, results: OutOfFoldResults, folds: Sequence[Fold], score: Score) -> StagedTradeOff:
    """Find the points of one chain.

    Rules that are learnt from other rows for the same lambda may be quite different, where costs jump. So a
    rule is judged by those that cost as much as it does, on the rows that each was learnt from.
    """
    evidence = results.evidence
    lams = choose_lambdas(evidence)
    learnt = learn_thresholds(evidence, lams)
    between, lams_between = interpolate_rules(evidence, learnt, lams, _costs_and_stops(evidence, learnt)[0])
    fixed = _fixed_rules(evidence.price.size)
    rules = np.concatenate([learnt, between, fixed])
    cost, stops = _costs_and_stops(evidence, rules)
    size = np.array([test.size for _, test in folds], dtype=np.float64)
    n_flexible = len(rules) - len(fixed)
    judged = np.array([_evaluate_fold(results, fold, lams, cost[:n_flexible], score) for fold in folds])
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


def _evaluate_fold(
    results: OutOfFoldResults, fold: Fold, lams: NDArray[np.float64], cost: NDArray[np.float64], score: Score
) -> NDArray[np.float64]:
    """Learn rules from rows outside a fold, and judge by its rows.

    Returns
    -------
    found : cost, score and loss, of shape (3, n_costs + n_stages)
        Of rules that have the given costs on the rows that they are learnt from: between two of them, values
        are interpolated. Then those of the rules by which all rows stop at the same stage.
    """
    train, test = fold
    evidence = results.evidence[test]
    paid = np.cumsum(evidence.price)
    learnt = learn_thresholds(results.evidence[train], lams)
    rules = np.concatenate([learnt, _fixed_rules(paid.size)])
    found = np.empty((3, len(rules)))
    rows = np.arange(test.size)
    for i, thresholds in enumerate(rules):
        stage = stopping_stage(evidence.uncertainty, thresholds)
        outputs = np.empty((test.size, results.outputs[0].shape[1]))
        for k in np.unique(stage).tolist():
            outputs[stage == k] = results.outputs[k][test[stage == k]]
        found[0, i] = np.average(paid[stage], weights=evidence.weight)
        found[1, i] = score(test, outputs)
        found[2, i] = np.average(results.loss[test][rows, stage], weights=evidence.weight)
    known = _costs_and_stops(results.evidence[train], learnt)[0]
    order = np.argsort(known, kind="stable")
    at_cost = [np.interp(cost, known[order], values[: lams.size][order]) for values in found]
    return np.concatenate([at_cost, found[:, lams.size :]], axis=1)


def _costs_and_stops(
    evidence: StoppingData, rules: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the average cost of each rule, and the share of the rows that stop at each stage."""
    total = evidence.weight.sum()
    n_stages = evidence.price.size
    stops = np.array(
        [
            np.bincount(
                stopping_stage(evidence.uncertainty, rule), weights=evidence.weight, minlength=n_stages
            )
            for rule in rules
        ]
    )
    stops /= total
    return stops @ np.cumsum(evidence.price), stops


def _fixed_rules(n_stages: int) -> NDArray[np.float64]:
    """Make the rules by which all rows stop at the same stage, one for each stage."""
    return np.where(np.arange(n_stages) < np.arange(n_stages)[:, np.newaxis], -np.inf, np.inf)
