"""Methods of averaged trees: the forest, depth limits, prunings, and forests grown with costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from budgetprune.baselines import BudgetRF, ccp_curve, depth_curve, greedy_curve
from budgetprune.baselines.ccp import Criterion
from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.problem import PruningProblem
from budgetprune.problem.acquisition import sources_used
from budgetprune_experiments.task import Point, Task, coarse_to_fine


@dataclass(frozen=True, eq=False)
class PricedModel:
    """Pruned forest with prices: the model that a `Task` evaluates."""

    forest_: Forest
    prices: CostTable

    def predict(self, X: Any) -> NDArray[Any]:
        return self.forest_.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self.forest_.predict_proba(X)

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        return self.prices.total(sources_used(self.forest_, self.prices, X))


def grown(task: Task) -> Any:
    """Base forest, grown on T once for all methods that prune it."""

    def grow() -> Any:
        return clone(task.base).fit(task.split.train.X, task.split.train.y)

    return task.shared("forest", grow)


def base_problem(task: Task) -> PruningProblem:
    """The paper's problem for the base forest: in-bag errors, costs counted on V."""

    model = grown(task)

    def build() -> PruningProblem:
        forest = Forest.from_model(model)
        return PruningProblem(forest, task.split.val.X, costs=task.costs, error="in-bag")

    return task.shared("problem", build)


def unpruned(task: Task) -> Iterator[Point]:
    problem = base_problem(task)
    yield task.point("all splits", PricedModel(problem.forest, problem.costs))


def limited_depth(task: Task) -> Iterator[Point]:
    """Depth-limited forests: the upper levels of one unlimited forest."""
    forest = Forest.from_model(grown(task))
    depths = task.grids.depths
    for k in task.deadline.within(coarse_to_fine(np.sqrt(depths)), at_least=task.grids.n_reported):
        refit = partial(_limited_on_all_rows, task, depths[k])
        yield task.point(f"max_depth {depths[k]}", _upper_levels(task, forest, depths[k]), refit)


def _limited_on_all_rows(task: Task, max_depth: int) -> PricedModel:
    """Refit one forest on T and V, and limit its depth."""
    rows = task.split.train_and_val
    model = task.shared("forest on T and V", lambda: clone(task.base).fit(rows.X, rows.y))
    return _upper_levels(task, Forest.from_model(model), max_depth)


def _upper_levels(task: Task, forest: Forest, max_depth: int) -> PricedModel:
    curve = depth_curve(forest)
    upper = curve.forest(max(len(curve) - 1 - max_depth, 0))
    return PricedModel(upper, task.costs.resolve(forest.n_features, forest.feature_names))


# --- Prunings of the base forest ----------------------------------------------------------------------------


def paper_path(task: Task) -> PruningPath:
    """All optimal prunings of the base forest."""
    problem = base_problem(task)
    return task.shared("path", problem.path)


def paper_pruning(task: Task) -> Iterator[Point]:
    problem, path = base_problem(task), paper_path(task)
    yield from _points_of_curve(task, problem, path.cost, path.lam, lambda k: path[k].forest, "lambda")


def cost_complexity(task: Task) -> Iterator[Point]:
    problem = base_problem(task)
    criteria: tuple[Criterion, ...] = ("entropy", "gini")
    for criterion in task.deadline.within(criteria):
        curve = ccp_curve(problem.forest, criterion)
        name = f"{criterion}, alpha"
        yield from _points_of_curve(
            task, problem, curve.trade_off(problem)[1], curve.parameter, curve.forest, name
        )


def greedy(task: Task) -> Iterator[Point]:
    problem = base_problem(task)
    curve = greedy_curve(problem)
    yield from _points_of_curve(
        task, problem, curve.trade_off(problem)[1], curve.parameter, curve.forest, "steps"
    )


def _points_of_curve(
    task: Task,
    problem: PruningProblem,
    cost: NDArray[np.float64],
    parameter: NDArray[np.float64],
    forest: Callable[[int], Forest],
    name: str,
) -> Iterator[Point]:
    """Evaluate points of nested prunings, spread over their known costs on V.

    Growing the forest takes nearly all of the time, so all reported points are computed in any case.
    """
    grids = task.grids
    points = coarse_to_fine(np.sqrt(cost), grids.n_prunings)
    for k in map(int, task.deadline.within(points, at_least=grids.n_reported)):
        model = PricedModel(forest(k), problem.costs)
        score = task.measure(model, task.split.val)
        yield Point(f"{name} {parameter[k]:.6g}", float(cost[k]), score, partial(_same, model))


def _same(model: Any) -> Any:
    return model


# --- Grown for cost -----------------------------------------------------------------------------------------


def budget_rf(task: Task) -> Iterator[Point]:
    base = task.base.get_params()

    def train(rows: Any, impurity: str, threshold: float) -> BudgetRF:
        if impurity == "pairs":
            threshold *= len(rows)  # a share of the rows
        return BudgetRF(
            base["n_estimators"],
            impurity=impurity,
            rule="expected" if impurity == "entropy" else "minimax",
            threshold=threshold,
            max_features=base["max_features"],
            min_samples_leaf=base["min_samples_leaf"],
            costs=task.costs,
            n_jobs=task.jobs,
            random_state=task.seed,
        ).fit(rows.X, rows.y)

    grids = task.grids
    entropy = [("entropy", grids.bits[k]) for k in coarse_to_fine(grids.bits)]
    pairs = [("pairs", grids.pairs[k]) for k in coarse_to_fine(np.sqrt(grids.pairs))]
    # First the ends of both grids, then their other values in alternation.
    settings = entropy[:2] + pairs[:2] + _in_turns(entropy[2:], pairs[2:])
    for impurity, threshold in task.deadline.within(settings, at_least=2):
        make = partial(train, impurity=impurity, threshold=threshold)
        refit = partial(make, task.split.train_and_val)
        yield task.point(f"{impurity}, threshold {threshold:g}", make(task.split.train), refit)


def _in_turns(one: list[Any], other: list[Any]) -> list[Any]:
    """Alternate the items of two lists."""
    turns = [item for both in zip(one, other, strict=False) for item in both]
    shared = min(len(one), len(other))
    return turns + one[shared:] + other[shared:]
