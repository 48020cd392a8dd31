"""Our methods beyond the paper: choices on V, refitted leaves, early decisions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from budgetprune.estimators import BudgetPruneClassifier
from budgetprune.staged import BudgetClassifier
from budgetprune_experiments.forest_methods import base_problem, grown
from budgetprune_experiments.task import T_AND_V, Point, Task


class Decided:
    """A fitted estimator whose predictions stop early; rows are simulated once for labels and costs."""

    def __init__(self, estimator: BudgetPruneClassifier | BudgetClassifier) -> None:
        self._predictor = estimator.predictor()
        self._seen: tuple[Any, Any] = None, None

    def _simulated(self, X: Any) -> Any:
        if self._seen[0] is not X:
            self._seen = X, self._predictor.simulate(X)
        return self._seen[1]

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._simulated(X).label)

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._simulated(X).cost)

    def sources_used(self, X: Any) -> NDArray[np.bool_]:
        """Mask of the sources that each row acquires, of shape (n_rows, n_sources)."""
        return np.asarray(self._simulated(X).acquired)


def refitted(task: Task) -> Iterator[Point]:
    yield from _on_forest(task)


def decided(task: Task) -> Iterator[Point]:
    yield from _on_forest(task, counting="decided")


def decided_with_slack(task: Task) -> Iterator[Point]:
    yield from _on_forest(task, counting="decided", slack="auto")


def _on_forest(task: Task, **settings: Any) -> Iterator[Point]:
    problem = base_problem(task)
    whole = problem.cost_of(problem.unpruned)
    for share in task.deadline.within(task.grids.budgets):
        yield from fitted_points(task, grown(task), share * whole, **settings)


def fitted(task: Task, model: Any, budget: float, **settings: Any) -> BudgetPruneClassifier:
    """Prune a model for a budget; parameters that are not in `settings` are chosen inside V."""
    estimator = BudgetPruneClassifier(
        FrozenEstimator(model),
        costs=task.costs,
        budget=budget,
        scoring=task.scoring,
        random_state=task.seed,
        n_jobs=task.jobs,
        **settings,
    )
    return estimator.fit(**task.split.fit_rows)


def fitted_points(task: Task, model: Any, budget: float, name: str = "", **settings: Any) -> Iterator[Point]:
    """Prune a model for a budget, including all choices; points for other budgets are from its trade-off.

    All scores are cross-fitted inside V, because V is finally used to refit the leaves.
    """
    estimator = fitted(task, model, budget, **settings)
    made_for = f"{name}chosen at {budget:.3g}: {estimator.choices_!r}"
    for cost, score in zip(estimator.tradeoff_.cost, estimator.tradeoff_.score, strict=True):
        make = partial(_with_budget, estimator, float(cost))
        yield Point(f"budget {cost:.4g}, {made_for}", float(cost), float(score), make, trained_on=T_AND_V)


def _with_budget(estimator: BudgetPruneClassifier, budget: float) -> Any:
    other = estimator.with_budget(budget)
    return Decided(other) if estimator.counting == "decided" else other
