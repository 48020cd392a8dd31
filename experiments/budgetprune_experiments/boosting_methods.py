"""Boosted trees: baselines grown with feature costs, and our pruning of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from budgetprune.baselines import CEGBClassifier, GreedyMiser
from budgetprune_experiments.grids import BoostingGrid
from budgetprune_experiments.our_methods import fitted_points
from budgetprune_experiments.task import Point, Task, coarse_to_fine

# Shares of a booster's full cost used as budgets; early decisions save about half of it.
DECIDED_SHARES = (0.5, 0.25)

Train = Callable[[Any, float, int], Any]


def greedy_miser(task: Task) -> Iterator[Point]:
    grid = task.grids.miser

    def train(rows: Any, weight: float, depth: int) -> GreedyMiser:
        return GreedyMiser(
            max(grid.rounds),
            max_depth=depth,
            cost_weight=weight / mean_price(task),
            learning_rate=grid.learning_rate,
            costs=task.costs,
            random_state=task.seed,
        ).fit(rows.X, rows.y)

    yield from after_rounds(task, "miser", grid, train)


def cegb(task: Task, penalty: str) -> Iterator[Point]:
    grid = getattr(task.grids, penalty)
    yield from after_rounds(task, penalty, grid, partial(_train_cegb, task, penalty, grid))


def decided_booster(task: Task) -> Iterator[Point]:
    """CEGB with low costs, pruned by us, with refitted leaves and early decisions."""
    for name, model, cost in grown_boosters(task):
        for share in task.deadline.within(DECIDED_SHARES):
            yield from fitted_points(
                task, model.estimator_, share * cost, name, counting="decided", slack="auto", refit="own"
            )


def grown_boosters(task: Task) -> Iterator[tuple[str, Any, float]]:
    """CEGB models trained on T with lazy costs: description, model, and average cost on V."""
    grid = task.grids.lazy
    for weight, size in task.deadline.within(_settings(grid)):
        make = partial(_train_cegb, task, "lazy", grid, task.split.train, weight, size)
        model = task.shared(("lazy", weight, size), make)
        cost = float(model.acquisition_cost(task.split.val.X).mean())
        yield f"on CEGB with tradeoff {weight:g} and {size} leaves, ", model, cost


def mean_price(task: Task) -> float:
    """Average price of a feature if nothing is acquired yet; 1 if all are free."""
    return float(task.costs.resolve(task.split.train.X.shape[1], None).price_alone.mean()) or 1.0


def _train_cegb(
    task: Task, penalty: str, grid: BoostingGrid, rows: Any, weight: float, size: int
) -> CEGBClassifier:
    # A coupled price is paid once for all rows.
    n_payers = len(rows) if penalty == "coupled" else 1
    return CEGBClassifier(
        penalty=penalty,  # type: ignore[arg-type]
        tradeoff=weight * n_payers / mean_price(task),
        costs=task.costs,
        num_leaves=size,
        n_estimators=max(grid.rounds),
        learning_rate=grid.learning_rate,
        min_child_weight=grid.least_hessian,
        n_jobs=task.jobs,
        random_state=task.seed,
    ).fit(rows.X, rows.y)


def after_rounds(task: Task, key: str, grid: BoostingGrid, train: Train) -> Iterator[Point]:
    """Train a model for each weight and size, and evaluate it after each number of rounds."""
    for weight, size in task.deadline.within(_settings(grid), at_least=2):
        model = task.shared((key, weight, size), partial(train, task.split.train, weight, size))
        for n_rounds in grid.rounds:
            setting = f"weight {weight:g}, size {size}, {n_rounds} rounds"
            refit = partial(_refitted, task, key, train, weight, size, n_rounds)
            yield task.point(setting, model.first_rounds(n_rounds), refit)


def _refitted(task: Task, key: str, train: Train, weight: float, size: int, n_rounds: int) -> Any:
    """Refit on T and V; one model has the predictions after each number of rounds."""
    make = partial(train, task.split.train_and_val, weight, size)
    return task.shared((key, "on T and V", weight, size), make).first_rounds(n_rounds)


def _settings(grid: BoostingGrid) -> list[tuple[float, int]]:
    """All weights, from coarse to fine, with the first size; then with the others."""
    weights = [grid.weights[k] for k in coarse_to_fine(np.arange(len(grid.weights)))]
    return [(weight, size) for size, weight in product(grid.sizes, weights)]
