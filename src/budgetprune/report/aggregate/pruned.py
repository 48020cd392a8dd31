"""Summary of the measurements of a pruned model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budgetprune.predictor import BudgetPredictor
from budgetprune.report.aggregate.changes import PathComparison
from budgetprune.report.aggregate.common import shared_fields, source_of
from budgetprune.report.aggregate.outcomes import MOST_NAMED, SourceTable, outcome_fields
from budgetprune.report.aggregate.validation import ValidationCurve
from budgetprune.report.measure.pruned import MeasuredModel, ModelResults, PrunedMeasurements
from budgetprune.report.options import ReportOptions
from budgetprune.report.summary.common import Recommendation
from budgetprune.report.summary.pruned import (
    Counting,
    ExpectedPoint,
    OperatingPoint,
    PredictorSettings,
    PrunedOutcome,
    Summary,
)
from budgetprune.report.summary.rival import Rival
from budgetprune.workflow import point_within, rounded_up


def summarise_pruned(
    measured: PrunedMeasurements, options: ReportOptions, rival: Rival | None = None
) -> Summary:
    """Aggregate the measurements of a pruned model and its path."""
    predictor, about = measured.model.predictor, measured.model.about
    forest, costs = measured.path.forest, predictor.costs
    counting: Counting = "full" if about is None else about.counting
    fields = shared_fields(forest, costs, measured.rows, about, options)
    curve = ValidationCurve.of(about, fields["score_name"])
    comparison = PathComparison(
        points=[each.results for each in measured.points],
        position=_positions(measured, counting),
        unpruned=measured.unpruned_on_sample,
        expected=_expected_points(measured, curve),
        is_refitted=measured.is_refitted,
        sources=SourceTable(costs.source_names, costs.price, measured.source_order),
    )
    return Summary(
        **fields,
        rival=rival,
        max_cost=predictor.max_cost,
        n_sample_rows=len(measured.unpruned_on_sample.rows),
        n_trees=forest.n_trees,
        sources=tuple(source_of(costs, s, forest) for s in measured.source_order.tolist()),
        delivered=_n_cheaper(measured, counting),
        recommendation=_recommendation(measured, curve, comparison),
        ensemble="ensemble" if forest.is_boosted else "forest",
        counting=counting,
        n_path_points=len(measured.path),
        points=_points(measured, comparison),
        expected=None if curve is None else curve.to_summary(),
        is_refitted=measured.is_refitted,
        examples=measured.examples,
        tree=measured.tree,
        settings=_settings(predictor),
    )


def _settings(predictor: BudgetPredictor) -> PredictorSettings:
    classes = predictor.forest.classes
    label = None if predictor.threshold is None or classes is None else str(classes[1])
    return PredictorSettings(predictor.slack, predictor.tolerance, predictor.threshold, label)


def _recommendation(
    measured: PrunedMeasurements, curve: ValidationCurve | None, comparison: PathComparison
) -> Recommendation | None:
    """Return the recommended point of the path; the delivered model stands for its own pruning."""
    about = measured.model.about
    if curve is None or about is None:
        return None
    full_cost, found = curve.recommend(about, has_constant=not measured.path.n_splits[-1])
    if full_cost is None:
        return found
    cost = np.array([float(measured.path.cost[k]) for k in _places(measured)])
    k = int(np.flatnonzero(cost <= full_cost * (1 + 1e-9))[0])
    if k == measured.anchor:
        return replace(found, point=_n_cheaper(measured, about.counting))
    return replace(found, point=comparison.position[k])


def _places(measured: PrunedMeasurements) -> list[int]:
    """Return the indices of the points in the whole path."""
    return [int(np.searchsorted(measured.path.lam, each.results.lam)) for each in measured.points]


def _budgets(measured: PrunedMeasurements) -> list[str | None]:
    """Find a budget with which `budgetprune rebudget` chooses each point of the path."""
    return [_budget_of(measured, k) for k in _places(measured)]


def _budget_of(measured: PrunedMeasurements, k: int) -> str | None:
    path, about = measured.path, measured.model.about
    cost = float(path.cost[k])
    if about is not None and about.counting == "decided" and about.tradeoff is not None:
        full = np.array(about.tradeoff["full_cost"])
        cost = float(about.tradeoff["cost"][int(np.abs(full - cost).argmin())])
    if not path.n_splits[k]:
        return None
    texts = (rounded_up(cost), repr(cost))
    return next((text for text in texts if point_within(path, about, float(text)) == k), None)


def _expected_points(
    measured: PrunedMeasurements, curve: ValidationCurve | None
) -> list[ExpectedPoint | None]:
    """Return the cross-fitted cost and score of each point of the path."""
    cost = measured.path.cost
    return [None if curve is None else curve.at(float(cost[k])) for k in _places(measured)]


# --- Points, from cheap to expensive ------------------------------------------------------------------------


def _n_cheaper(measured: PrunedMeasurements, counting: Counting) -> int:
    """Count the path points that are not more expensive than the delivered model."""
    cost = np.array([each.results.results(counting).mean_cost for each in measured.points])
    return int(np.count_nonzero(cost <= measured.delivered.results.results(counting).mean_cost))


def _positions(measured: PrunedMeasurements, counting: Counting) -> list[int]:
    """Return the indices of the path points among all points."""
    n_cheaper = _n_cheaper(measured, counting)
    return [k + (k >= n_cheaper) for k in reversed(range(len(measured.points)))]


def _points(measured: PrunedMeasurements, comparison: PathComparison) -> tuple[OperatingPoint, ...]:
    """Return the path with the delivered model inserted, then the unpruned ensemble."""
    n_path, unpruned, budgets = len(measured.points), measured.unpruned.results, _budgets(measured)
    placed = {
        position: _point(n_path - k, each, measured.unpruned_on_sample, k, comparison, budgets[k])
        for k, (position, each) in enumerate(zip(comparison.position, measured.points, strict=True))
    }
    own = budgets[measured.anchor]
    delivered = _point(None, measured.delivered, unpruned, measured.anchor, comparison, own)
    on_curve = tuple(placed.get(i, delivered) for i in range(n_path + 1))
    return (*on_curve, _point(None, measured.unpruned, unpruned, None, comparison))


def _point(
    number: int | None,
    each: MeasuredModel,
    unpruned: ModelResults,
    anchor: int | None,
    comparison: PathComparison,
    budget: str | None = None,
) -> OperatingPoint:
    """Return one point.

    Parameters
    ----------
    number : number among the points of the path, or None
    each : MeasuredModel
    unpruned : the unpruned ensemble on the rows of `each`
    anchor : see `PathComparison.changes`
    comparison : PathComparison
    budget : a budget that selects it
    """
    results = each.results
    never, few, many = results.usage.tolist()
    return OperatingPoint(
        kind=results.kind,
        number=number,
        lam=None if np.isnan(results.lam) else float(results.lam),
        budget=budget,
        n_rows=len(results.rows),
        n_splits=results.n_splits,
        n_features=results.n_features,
        n_tree_splits=each.n_tree_splits,
        full=_outcome(results, "full", unpruned, anchor, comparison),
        decided=_outcome(results, "decided", unpruned, anchor, comparison),
        expected=None if anchor is None else comparison.expected[anchor],
        usage=(never, few, many),
        predictions=each.predictions,
    )


def _outcome(
    model: ModelResults,
    counting: Counting,
    unpruned: ModelResults,
    anchor: int | None,
    comparison: PathComparison,
) -> PrunedOutcome:
    results, sources = model.results(counting), comparison.sources
    reference = unpruned.results(counting)
    before = reference.share
    dropped = np.flatnonzero((before > 0) & (results.share == 0))
    dropped = dropped[np.argsort(-(before * sources.price)[dropped], kind="stable")]
    more, less = comparison.changes(model, counting, anchor)
    return PrunedOutcome(
        **outcome_fields(results, reference, model.rows, sources),
        dropped=tuple(sources.names[s] for s in dropped[:MOST_NAMED].tolist()),
        n_dropped=int(dropped.size),
        more=more,
        less=less,
    )
