"""Other budgets of a model, without training."""

from __future__ import annotations

from dataclasses import replace

from budgetprune.errors import InvalidInputError
from budgetprune.model import BudgetModel
from budgetprune.staged import StagedPredictor
from budgetprune.workflow.comparison import WELL_SPENT, rounded_up
from budgetprune.workflow.path_budgets import rebudget_path


def rebudget_model(model: BudgetModel, budget: float | None) -> BudgetModel:
    """Return a model at another budget.

    A staged model keeps its trees and gets other stopping rules. A pruned model becomes another point of its
    path, with leaf values as grown. Test results for the previous budget are dropped.
    """
    predictor = model.predictor
    if not isinstance(predictor, StagedPredictor):
        if model.path is None:
            raise InvalidInputError(
                "this pruned model has no path with it, so it has one budget only. Fit or prune it again "
                "with another --budget."
            )
        return rebudget_path(model, budget)
    best = predictor.with_budget(None)
    is_too_small = budget is not None and predictor.model.trade_off.within(budget) is None
    other = None if is_too_small else predictor.with_budget(budget)
    if other is None or (_uses_features(best) and not _uses_features(other)):
        curve = predictor.model.trade_off
        useful = (float(cost) for cost in curve.cost if _uses_features(predictor.with_budget(float(cost))))
        raise InvalidInputError(
            f"a budget of {budget:g} is too small for the stages of this model: its cheapest useful point "
            f"costs {rounded_up(next(useful))} per prediction, on average. Give at least that, or train a "
            f"model for this budget: budgetprune fit --budget {budget:g}."
        )
    about = model.about
    if about is not None:
        lam = float(other.model.trade_off.lam[other.model.point])
        about = replace(about, budget=budget, lam=lam, compared=None)
    return BudgetModel(other, None, about)


def _uses_features(predictor: StagedPredictor) -> bool:
    """Whether any split tests a feature; otherwise the prediction is constant."""
    return predictor.forest.n_splits > 0


def unused_budget_note(predictor: StagedPredictor, budget: float | None) -> str | None:
    """Return a note if much of the budget is left; None otherwise."""
    model = predictor.model
    curve, point = model.trade_off, model.point
    cost = float(curve.cost[point])
    if budget is None or cost >= WELL_SPENT * budget:
        return None
    start = f"the model costs {cost:.4g}, and much of the budget of {budget:g} is left"
    if point == len(curve) - 1:
        return f"{start}: a higher cost did not improve the score on rows that it was not trained on."
    if point == model.best:
        return f"{start}: more sources would cost more than the errors that they avoid."
    return f"{start}: the next better model costs {rounded_up(float(curve.cost[point + 1]))}."
