"""Delivered model and curve of any kind of model, for the comparison of two models."""

from __future__ import annotations

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.report.measure.pruned import PrunedMeasurements
from budgetprune.report.measure.results import Results
from budgetprune.report.measure.staged import StagedMeasurements
from budgetprune.report.summary.pruned import Counting

Measurements = PrunedMeasurements | StagedMeasurements


def delivered_results(measured: Measurements, counting: Counting) -> Results:
    """Return the results of the delivered model on all rows."""
    if isinstance(measured, StagedMeasurements):
        return measured.points[measured.model.point].results
    return measured.delivered.results.results(counting)


def curve_of(measured: Measurements, counting: Counting) -> list[tuple[float, float]]:
    """Return cost and score of the points of a path or curve, from cheap to expensive."""
    if isinstance(measured, StagedMeasurements):
        found = [stopped.results for stopped in measured.points.values()]
    else:
        found = [each.results.results(counting) for each in measured.points]
    return sorted((results.mean_cost, results.mean_score) for results in found)


def costs_of(measured: Measurements) -> CostTable:
    """Return the sources of a model."""
    if isinstance(measured, StagedMeasurements):
        return measured.model.costs
    return measured.model.predictor.costs


def forest_measured(measured: Measurements) -> Forest:
    """Return all trees of a model."""
    return measured.model.all_trees() if isinstance(measured, StagedMeasurements) else measured.path.forest
