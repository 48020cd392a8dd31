"""Summarise any model on test rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from budgetprune.forest import Forest
from budgetprune.preprocessing import InputColumns
from budgetprune.report.aggregate import summarise_pruned, summarise_rival, summarise_staged
from budgetprune.report.measure import (
    PrunedMeasurements,
    StagedMeasurements,
    check_path,
    measure_pruned,
    measure_staged,
)
from budgetprune.report.options import ReportOptions, no_progress
from budgetprune.report.summary import StagedSummary, Summary
from budgetprune.staged import StagedPredictor

if TYPE_CHECKING:
    from budgetprune.model import BudgetModel


@dataclass(frozen=True, eq=False)
class OtherModel:
    """A model to compare with, on the same rows.

    Attributes
    ----------
    model : BudgetModel
    X : rows in the form that this model takes
        The same rows, in the same order.
    name : str
    """

    model: BudgetModel
    X: Any
    name: str


def summarise(
    model: BudgetModel,
    X: Any,
    y: Any,
    options: ReportOptions | None = None,
    *,
    other: OtherModel | None = None,
    **settings: Any,
) -> Summary | StagedSummary:
    """Evaluate a model and the alternatives on its path or curve on held-out rows.

    Parameters
    ----------
    model : BudgetModel
        A model with a path, or a staged model.
    X : rows, of any form that `Forest.prepare_rows` takes; raw rows for a model with a preprocessing
    y : labels or targets of the rows
        For a label unknown to the model, every answer counts as wrong.
    options : ReportOptions, optional
    other : OtherModel, optional
        Another model to compare with.
    **settings
        Fields of `ReportOptions`, instead of those in `options`. `n_stories` is the deprecated name of
        `n_examples`.

    Returns
    -------
    summary : Summary, or StagedSummary for a staged model
    """
    options = _with_settings(options or ReportOptions(), settings)
    model, X = _encoded(model, X)
    if other is not None:
        other = OtherModel(*_encoded(other.model, other.X), other.name)
    measured = _measure(model, X, y, options)
    rival = None
    if other is not None:
        # Its errors get the prices of the first model.
        quiet = replace(options, n_examples=0, progress=no_progress, error_costs=None)
        rival = summarise_rival(measured, _measure(other.model, other.X, y, quiet), other.name)
    if isinstance(measured, StagedMeasurements):
        return summarise_staged(measured, options, rival)
    return summarise_pruned(measured, options, rival)


def _encoded(model: BudgetModel, X: Any) -> tuple[BudgetModel, Any]:
    """Return a model for encoded features, and encoded rows."""
    predictor = model.predictor
    if predictor.preprocessing is None:
        return model, X
    encoded = predictor.encode_for(forest_of(model), X)
    return replace(model, predictor=predictor.without_preprocessing()), encoded


def _measure(
    model: BudgetModel, X: Any, y: Any, options: ReportOptions
) -> PrunedMeasurements | StagedMeasurements:
    if isinstance(model.predictor, StagedPredictor):
        return measure_staged(model.predictor, model.about, X, y, options)
    return measure_pruned(model, X, y, options)


def inputs_of(model: BudgetModel) -> Forest | InputColumns:
    """Describe the columns that rows of a report must have."""
    return model.predictor.inputs(forest_of(model))


def forest_of(model: BudgetModel) -> Forest:
    """Return all trees of a report; the rows must have the columns that they test."""
    if isinstance(model.predictor, StagedPredictor):
        return model.predictor.model.all_trees()
    return check_path(model).forest


def _with_settings(options: ReportOptions, settings: dict[str, Any]) -> ReportOptions:
    given = {name: value for name, value in settings.items() if value is not None}
    if "n_stories" in given:
        warnings.warn("n_stories is deprecated; use n_examples.", DeprecationWarning, stacklevel=3)
        given["n_examples"] = given.pop("n_stories")
    return replace(options, **given)
