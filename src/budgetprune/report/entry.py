"""From any model and test rows to a summary."""

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
    """Measure a model, and all others that could have been chosen, on rows that had no part in any choice.

    Parameters
    ----------
    model : BudgetModel
        With a path, or a staged model.
    X : rows, of any form that `Forest.prepare_rows` takes
    y : labels or targets of the rows
        A label that the model does not know counts as wrong, whatever is answered.
    title : str
        Empty: one that names the target.
    unit : str
        What costs are counted in.
    n_stories : int
        Rows that are shown with their values, at most 5; 0 shows none.
    max_rows : int
        Rows on which other points of the path, or of the curve, are measured. Of more, a sample is drawn. The
        delivered model and the one that it is compared with are always measured on all.
    seed : int
        Of that sample.
    progress : callable, optional
        Called with how many models are done, and how many there are.

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
    """Return all trees that a report is about: rows must have the columns that they test."""
    if isinstance(model.predictor, StagedPredictor):
        return model.predictor.model.all_trees()
    return check_path(model).forest
