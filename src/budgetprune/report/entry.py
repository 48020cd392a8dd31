"""Summarise any model on test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.report.staged import StagedSummary, summarise_staged
from budgetprune.report.summarise import check_path, summarise_pruned
from budgetprune.report.summary import Summary
from budgetprune.report.wishes import Progress, Wishes
from budgetprune.staged import StagedPredictor

if TYPE_CHECKING:
    from budgetprune.model import BudgetModel


def summarise(
    model: BudgetModel,
    X: Any,
    y: Any,
    *,
    title: str = "",
    unit: str = "",
    n_stories: int = 5,
    max_rows: int = 5000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Summary | StagedSummary:
    """Evaluate a model and the alternatives on its path or curve on held-out rows.

    Parameters
    ----------
    model : BudgetModel
        A model with a path, or a staged model.
    X : rows, of any form that `Forest.prepare_rows` takes
    y : labels or targets of the rows
        For a label unknown to the model, every answer counts as wrong.
    title : str
        Title of the page. Empty: a title that names the target.
    unit : str
        Unit of cost.
    n_stories : int
        Number of example rows shown with their values, at most 5.
    max_rows : int
        Maximum number of rows for the other points of the path or curve. A larger data set is sampled. The
        delivered model and its reference are always evaluated on all rows.
    seed : int
        Random seed of that sample.
    progress : callable, optional
        Called with the number of models done and the total.

    Returns
    -------
    summary : Summary, or StagedSummary for a staged model
    """
    if n_stories < 0 or max_rows < 1:
        raise InvalidInputError("n_stories must be at least 0, and max_rows at least 1.")
    wishes = Wishes(title, unit, n_stories, max_rows, seed, progress or (lambda done, total: None))
    if isinstance(model.predictor, StagedPredictor):
        return summarise_staged(model.predictor, model.about, X, y, wishes)
    return summarise_pruned(model, X, y, wishes)


def forest_of(model: BudgetModel) -> Forest:
    """Return all trees of a report; the rows must have the columns that they test."""
    if isinstance(model.predictor, StagedPredictor):
        return model.predictor.model.all_trees()
    return check_path(model).forest
