"""Measurements of models on test rows: arrays by row, and facts about single rows and trees."""

from budgetprune.report.measure.pruned import PrunedMeasurements, check_path, measure_pruned
from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.measure.staged import StagedMeasurements, measure_staged

__all__ = [
    "EvaluationRows",
    "PrunedMeasurements",
    "StagedMeasurements",
    "check_path",
    "measure_pruned",
    "measure_staged",
]
