"""Boosted trees: baselines grown with feature costs, and our pruning of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from budgetprune.baselines import CEGBClassifier, GreedyMiser
from budgetprune_experiments.contest import Contest, Point, coarse_to_fine
from budgetprune_experiments.grids import BoostingGrid
from budgetprune_experiments.our_methods import fitted_points

# Shares of a booster's full cost used as budgets; early decisions save about half of it.
DECIDED_SHARES = (0.5, 0.25)

Train = Callable[[Any, float, int], Any]


def greedy_miser(contest: Contest) -> Iterator[Point]:
    grid = contest.grids.miser

    def train(rows: Any, weight: float, depth: int) -> GreedyMiser:
        return GreedyMiser(
            max(grid.rounds),
            max_depth=depth,
            cost_weight=weight / mean_price(contest),
            learning_rate=grid.learning_rate,
            costs=contest.costs,
            random_state=contest.seed,
        ).fit(rows.X, rows.y)

    yield from after_rounds(contest, "miser", grid, train)


def cegb(contest: Contest, penalty: str) -> Iterator[Point]:
    grid = getattr(contest.grids, penalty)
    yield from after_rounds(contest, penalty, grid, partial(_train_cegb, contest, penalty, grid))


def decided_booster(contest: Contest) -> Iterator[Point]:
    """CEGB with low costs, pruned by us, with refitted leaves and early decisions."""
    for name, model, cost in grown_boosters(contest):
        for share in contest.deadline.within(DECIDED_SHARES):
            yield from fitted_points(
                contest, model.estimator_, share * cost, name, counting="decided", slack="auto", refit="own"
            )


def grown_boosters(contest: Contest) -> Iterator[tuple[str, Any, float]]:
    """CEGB models trained on T with lazy costs: description, model, and average cost on V."""
    grid = contest.grids.lazy
    for weight, size in contest.deadline.within(_settings(grid)):
        make = partial(_train_cegb, contest, "lazy", grid, contest.split.train, weight, size)
        model = contest.shared(("lazy", weight, size), make)
        cost = float(model.acquisition_cost(contest.split.val.X).mean())
        yield f"on CEGB with tradeoff {weight:g} and {size} leaves, ", model, cost


def mean_price(contest: Contest) -> float:
    """Average price of a feature if nothing is acquired yet; 1 if all are free."""
    return float(contest.costs.resolve(contest.split.train.X.shape[1], None).price_alone.mean()) or 1.0


def _train_cegb(
    contest: Contest, penalty: str, grid: BoostingGrid, rows: Any, weight: float, size: int
) -> CEGBClassifier:
    # A coupled price is paid once for all rows.
    n_payers = len(rows) if penalty == "coupled" else 1
    return CEGBClassifier(
        penalty=penalty,  # type: ignore[arg-type]
        tradeoff=weight * n_payers / mean_price(contest),
        costs=contest.costs,
        num_leaves=size,
        n_estimators=max(grid.rounds),
        learning_rate=grid.learning_rate,
        min_child_weight=grid.least_hessian,
        n_jobs=contest.jobs,
        random_state=contest.seed,
    ).fit(rows.X, rows.y)


def after_rounds(contest: Contest, key: str, grid: BoostingGrid, train: Train) -> Iterator[Point]:
    """Train a model for each weight and size, and evaluate it after each number of rounds."""
    for weight, size in contest.deadline.within(_settings(grid), at_least=2):
        model = contest.shared((key, weight, size), partial(train, contest.split.train, weight, size))
        for n_rounds in grid.rounds:
            setting = f"weight {weight:g}, size {size}, {n_rounds} rounds"
            again = partial(_trained_again, contest, key, train, weight, size, n_rounds)
            yield contest.point(setting, model.first_rounds(n_rounds), again)


def _trained_again(contest: Contest, key: str, train: Train, weight: float, size: int, n_rounds: int) -> Any:
    """One model on T and V serves all numbers of rounds."""
    make = partial(train, contest.split.train_and_val, weight, size)
    return contest.shared((key, "again", weight, size), make).first_rounds(n_rounds)


def _settings(grid: BoostingGrid) -> list[tuple[float, int]]:
    """All weights, from coarse to fine, with the first size; then with the others."""
    weights = [grid.weights[k] for k in coarse_to_fine(np.arange(len(grid.weights)))]
    return [(weight, size) for size, weight in product(grid.sizes, weights)]
