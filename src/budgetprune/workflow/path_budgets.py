"""Other budgets of a pruned model: points of its path, with leaf values as grown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.model import About, BudgetModel
from budgetprune.path import PruningPath
from budgetprune.predictor import SETTINGS, BudgetPredictor
from budgetprune.workflow.comparison import rounded_up

_ROUNDING = 1e-9


def point_within(path: PruningPath, about: About | None, budget: float | None) -> int | None:
    """Return the index of the most expensive point within a budget; None if the budget is below all.

    A budget limits the decided cost if the model was chosen by that, else the full cost. Decided costs are
    known at the points of `About.tradeoff`. Without a budget, the point with the best score is returned.
    """
    tradeoff = None if about is None else about.tradeoff
    if budget is None:
        if tradeoff is None:
            return 0
        best = tradeoff["full_cost"][int(np.argmax(tradeoff["score"]))]
        return _first_within(path.cost, best)
    if about is None or about.counting == "full":
        return _first_within(path.cost, budget)
    if tradeoff is None:
        return None
    k = _first_within(np.array(tradeoff["cost"]), budget)
    return None if k is None else _first_within(path.cost, tradeoff["full_cost"][k])


def rebudget_path(model: BudgetModel, budget: float | None) -> BudgetModel:
    """Return the model at another point of its path, with leaf values as grown.

    The model's own point keeps its refitted leaves.
    """
    path, about, own = model.path, model.about, model.predictor
    assert path is not None
    k = point_within(path, about, budget)
    if k is None or (budget is not None and not path.n_splits[k]):
        raise InvalidInputError(_too_small(path, about, budget))
    lam = float(path.lam[k])
    is_own = about is not None and point_at(path, about.lam) == k
    if not is_own:
        settings = {name: getattr(own, name) for name in SETTINGS}
        own = BudgetPredictor(path[k].forest, own.costs, **settings)
    if about is not None:
        choices = about.choices if is_own else "leaf values as grown"
        about = replace(about, budget=budget, lam=lam, choices=choices, compared=None)
    return BudgetModel(own, path, about)


def point_at(path: PruningPath, lam: float) -> int:
    """Return the index of the point that is optimal at a lambda."""
    return max(int(np.searchsorted(path.lam, lam, side="right")) - 1, 0)


def _first_within(cost: np.ndarray, amount: float) -> int | None:
    """Return the index of the most expensive point within an amount; costs do not increase."""
    within = np.flatnonzero(cost <= amount * (1 + _ROUNDING))
    return int(within[0]) if within.size else None


def _too_small(path: PruningPath, about: About | None, budget: float | None) -> str:
    useful = np.flatnonzero(path.n_splits > 0)
    if not useful.size:
        return "the path of this model has no point that uses a feature."
    needed = float(path.cost[useful[-1]])
    if about is not None and about.counting == "decided" and about.tradeoff is not None:
        full, decided = (np.array(about.tradeoff[name]) for name in ("full_cost", "cost"))
        affordable = decided[full >= needed * (1 - _ROUNDING)]
        needed = float(affordable[-1]) if affordable.size else needed
    return (
        f"a budget of {budget or 0:g} is too small for this model: its cheapest useful point costs "
        f"{rounded_up(needed)} per prediction, on average. Give at least that, or train an ensemble for this "
        "budget."
    )
