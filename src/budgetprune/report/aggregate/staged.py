"""Summary of the measurements of a staged model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budgetprune.report.aggregate.common import shared_fields, source_of
from budgetprune.report.aggregate.outcomes import SourceTable, outcome_fields
from budgetprune.report.aggregate.recommend import recommend
from budgetprune.report.aggregate.stages import stage_outcomes
from budgetprune.report.measure.staged import StagedMeasurements
from budgetprune.report.measure.stopping import StoppedRows, loss_kind
from budgetprune.report.options import ReportOptions
from budgetprune.report.summary.common import Recommendation
from budgetprune.report.summary.rival import Rival
from budgetprune.report.summary.staged import ChainStage, StagedOutcome, StagedPoint, StagedSummary
from budgetprune.staged import StagedModel
from budgetprune.workflow import rounded_up


def summarise_staged(
    measured: StagedMeasurements, options: ReportOptions, rival: Rival | None = None
) -> StagedSummary:
    """Aggregate the measurements of a staged model at all its budgets."""
    model, predictor, about = measured.model, measured.predictor, measured.about
    forest, costs = model.all_trees(), model.costs
    fields = shared_fields(forest, costs, measured.rows, about, options)
    order = measured.source_order
    sources = SourceTable(costs.source_names, costs.price, order)
    has_scores = about is not None and about.score_name == fields["score_name"]
    points = [_curve_point(measured, point, sources, has_scores=has_scores) for point in measured.points]
    return StagedSummary(
        **fields,
        rival=rival,
        max_cost=predictor.max_cost,
        n_sample_rows=measured.n_sample_rows,
        n_trees=predictor.forest.n_trees,
        sources=tuple(source_of(costs, s, forest) for s in order.tolist()),
        delivered=list(measured.points).index(model.point),
        recommendation=_recommendation(measured, is_accuracy=fields["task"] == "classification")
        if has_scores
        else None,
        loss_kind=loss_kind(model),
        n_curve_points=len(model.trade_off),
        chains=_chains(measured),
        points=(*points, _point_with_everything(measured, sources)),
        examples=measured.examples,
    )


def _recommendation(measured: StagedMeasurements, *, is_accuracy: bool) -> Recommendation:
    """Return the recommended point of the curve: with error costs, the one with the lowest total."""
    model, about = measured.model, measured.about
    assert about is not None
    curve, shown = model.trade_off, list(measured.points)
    has_constant = _uses_no_feature(model, 0)
    k, found = recommend(
        curve.cost, curve.score, about.n_train, is_accuracy=is_accuracy, has_constant=has_constant
    )
    if model.has_error_costs:
        k = None if model.best == 0 and has_constant else model.best
        found = replace(
            found,
            rule="constant" if k is None else "lowest total",
            cost=float(curve.cost[model.best]),
            score=float(curve.score[model.best]),
        )
    if k is None:
        return found
    # Of a long curve, some points are shown: the next cheaper one stands for the others.
    return replace(found, point=int(np.searchsorted(shown, k, side="right")) - 1)


def _chains(measured: StagedMeasurements) -> tuple[tuple[ChainStage, ...], ...]:
    """Return the sources of each stage of each chain, and the score if all rows stop there."""
    position = {int(s): i for i, s in enumerate(measured.source_order)}
    price = measured.model.costs.price
    chains = []
    for chain, predictions in zip(measured.model.chains, measured.predictions, strict=True):
        prices = [float(price[list(stage.sources)].sum()) for stage in chain.stages]
        paid = np.cumsum(prices).tolist()
        score = [float(predictions.score[:, k].mean()) for k in range(len(prices))]
        chains.append(
            tuple(
                ChainStage(tuple(position[s] for s in stage.sources), prices[k], paid[k], score[k])
                for k, stage in enumerate(chain.stages)
            )
        )
    return tuple(chains)


def _curve_point(
    measured: StagedMeasurements, point: int, sources: SourceTable, *, has_scores: bool
) -> StagedPoint:
    """Return one point of the curve.

    Parameters
    ----------
    measured : StagedMeasurements
    point : index on the curve
    sources : SourceTable
    has_scores : whether the cross-fitted scores use the metric of the report
    """
    model, curve, stopped = measured.model, measured.model.trade_off, measured.points[point]
    is_own = point == model.point
    everything = measured.everything if is_own else measured.everything_on_sample
    return StagedPoint(
        kind="delivered" if is_own else "point",
        number=point + 1,
        chain=stopped.rule.chain,
        lam=float(curve.lam[point]),
        budget=budget_of(model, point),
        expected_cost=float(curve.cost[point]),
        expected_score=float(curve.score[point]) if has_scores else None,
        expected_score_std=float(curve.score_std[point]) if has_scores else None,
        n_rows=stopped.stage.size,
        is_constant=_is_constant(model, stopped),
        is_fixed=bool(np.isinf(stopped.rule.thresholds).all()),
        is_best=point == model.best,
        n_stage_sources=_n_stage_sources(model, stopped),
        cheapest_equal=_cheapest_equal(stopped),
        outcome=_outcome(stopped, everything, sources),
        stages=stage_outcomes(stopped, curve.stops[point]),
    )


def _point_with_everything(measured: StagedMeasurements, sources: SourceTable) -> StagedPoint:
    stopped = measured.everything
    return StagedPoint(
        kind="everything",
        number=None,
        chain=stopped.rule.chain,
        lam=None,
        budget=None,
        expected_cost=None,
        expected_score=None,
        expected_score_std=None,
        n_rows=stopped.stage.size,
        is_constant=_is_constant(measured.model, stopped),
        is_fixed=True,
        is_best=False,
        n_stage_sources=_n_stage_sources(measured.model, stopped),
        cheapest_equal=_cheapest_equal(stopped),
        outcome=_outcome(stopped, stopped, sources),
        stages=stage_outcomes(stopped, None),
    )


def _outcome(stopped: StoppedRows, everything: StoppedRows, sources: SourceTable) -> StagedOutcome:
    """Return the outcome of a point, compared with acquiring all sources on the same rows."""
    loss = stopped.loss
    return StagedOutcome(
        **outcome_fields(stopped.results, everything.results, stopped.predictions.rows, sources),
        loss=float(np.nanmean(loss)) if np.isfinite(loss).any() else None,
    )


def _n_stage_sources(model: StagedModel, stopped: StoppedRows) -> int:
    stages = model.chains[stopped.rule.chain].stages[: stopped.rule.last + 1]
    return sum(len(stage.sources) for stage in stages)


def _cheapest_equal(stopped: StoppedRows) -> int | None:
    """Return the first stage that is as good on these rows if all rows stop there."""
    score = stopped.predictions.score[:, : stopped.rule.last + 1].mean(axis=0)
    as_good = np.flatnonzero(score >= stopped.results.score.mean() - 1e-12)
    return int(as_good[0]) if as_good.size else None


def _is_constant(model: StagedModel, stopped: StoppedRows) -> bool:
    """Whether no stage that rows can reach tests a feature."""
    stages = model.chains[stopped.rule.chain].stages[: stopped.rule.n_reachable]
    return not any(stage.forest.n_splits for stage in stages)


def _uses_no_feature(model: StagedModel, point: int) -> bool:
    """Whether a point of the curve is a constant."""
    there = model.at(point)
    return not there.trees(there.n_reachable).n_splits


def budget_of(model: StagedModel, point: int) -> str | None:
    """Find a budget with which `budgetprune rebudget` chooses a point; None if there is none."""
    if point > model.best or _uses_no_feature(model, point):
        return None
    cost = model.cost(point)
    texts = (rounded_up(cost), repr(cost))
    return next((text for text in texts if model.trade_off.within(float(text)) == point), None)
