"""Methods for ranking by scores; ours stop once a score is known within a tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines import GreedyMiserRegressor
from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem import PruningProblem
from budgetprune.ranking import average_precision_at
from budgetprune.refit import refit
from budgetprune.selection import Choices, LabelledRows, halves
from budgetprune_experiments import boosting_methods as boosting
from budgetprune_experiments import methods as _methods
from budgetprune_experiments.figures import CRIMSON, ORANGE_RED, LineStyle
from budgetprune_experiments.forest_methods import base_problem, grown
from budgetprune_experiments.our_methods import fitted
from budgetprune_experiments.task import T_AND_V, Method, Point, Task

K = 5
# Budgets for pruning a boosted model, as shares of its full cost.
BOOSTER_SHARES = (0.6, 0.3)
# Largest difference of the score's bounds at which a document may stop, in standard deviations of all scores.
TOLERANCES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)


def measure(model: Any, rows: LabelledRows) -> float:
    """AP@5 of a model's ranking, the mean over queries."""
    assert rows.qid is not None
    return average_precision_at(rows.y, relevance(model, rows.X), rows.qid, K)


def relevance(model: Any, X: Any) -> NDArray[np.float64]:
    """Ranking score of a model: the probability of class 1, or its prediction if it has none."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)
    return np.asarray(model.predict(X), dtype=np.float64)


def greedy_miser(task: Task) -> Iterator[Point]:
    """GreedyMiser with logistic loss, alternating with squared loss, which is usual for ranking."""
    grid = task.grids.miser

    def train(rows: Any, weight: float, depth: int) -> GreedyMiserRegressor:
        return GreedyMiserRegressor(
            max(grid.rounds),
            max_depth=depth,
            cost_weight=weight / boosting.mean_price(task),
            learning_rate=grid.learning_rate,
            costs=task.costs,
            random_state=task.seed,
        ).fit(rows.X, rows.y)

    squared = boosting.after_rounds(task, "squared miser", grid, train)
    turns = chain.from_iterable(zip_longest(boosting.greedy_miser(task), squared))
    return (point for point in turns if point is not None)


# --- Documents that stop early ------------------------------------------------------------------------------


class ScoredWithin:
    """Forest that stops scoring a document once the remaining features can change little.

    A ranking has no labels that could be decided. But while trees wait for a feature, the score lies between
    two bounds. Once their difference is at most `tolerance`, the document stops, and the value of each tree
    is that of its current node.
    """

    def __init__(self, forest: Forest, prices: CostTable, tolerance: float) -> None:
        self._predictor = BudgetPredictor(score_forest(forest), prices, tolerance=tolerance)
        self._seen: tuple[Any, Any] = None, None

    def _simulated(self, X: Any) -> Any:
        if self._seen[0] is not X:
            self._seen = X, self._predictor.simulate(X)
        return self._seen[1]

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._simulated(X).label)

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._simulated(X).cost)


def score_forest(forest: Forest) -> Forest:
    """Convert a classifier with two classes to a forest of one score, which ranks like the probability.

    The score is the probability of the second class if trees are averaged, else the score before the link.
    """
    if forest.classes is None or forest.classes.size != 2:
        raise InvalidInputError("ranking documents needs a classifier with two classes; this forest is none.")
    value, base = forest.value, forest.base
    if forest.n_outputs == 2:
        weights = np.array([0.0, 1.0] if forest.link == "identity" else [-1.0, 1.0])
        value, base = (value @ weights)[:, np.newaxis], np.atleast_1d(base @ weights)
    return replace(
        forest,
        value=value,
        base=base,
        classes=None,
        class_weight=None,
        variance=None,
        link="identity",
        label_rule="argmax",
        loss=None,
    )


@dataclass(frozen=True, eq=False)
class RankingSettings:
    """Settings of a pruned forest for ranking: the choices and the budget."""

    task: Task
    forest: Forest
    choices: Choices
    budget: float

    def make(self, val: LabelledRows) -> Forest:
        """Prune with costs counted on `val`, and refit on T and `val`."""
        task, choices = self.task, self.choices
        train = task.split.train
        problem = PruningProblem(
            self.forest,
            val.X,
            val.y,
            costs=task.costs,
            error=choices.error,
            loss=choices.loss,
            X_train=train.X,
            y_train=train.y,
        )
        pruned = problem.path(budgets=[self.budget]).at(budget=self.budget).forest
        if choices.refit is None:
            return pruned
        X, y = np.concatenate([train.X, val.X]), np.concatenate([train.y, val.y])
        return refit(pruned, X, y, kind=choices.refit, ridge=choices.ridge).forest

    def model(self, forest: Forest, tolerance: float) -> ScoredWithin:
        """Return a model whose documents stop; the tolerance is in standard deviations of the scores on T."""
        spread = float(score_forest(forest).scores(self.task.split.train.X).std())
        prices = self.task.costs.resolve(forest.n_features, forest.feature_names)
        return ScoredWithin(forest, prices, tolerance * spread)

    def final(self, tolerance: float) -> ScoredWithin:
        """Build the final model with all of V, after the tolerance is chosen."""
        made = self.task.shared((id(self), "forest"), partial(self.make, self.task.split.val))
        return self.model(made, tolerance)

    def points(self, name: str) -> Iterator[Point]:
        """Evaluate all tolerances: each half of V evaluates the model that was built with the other half."""
        task = self.task
        val = task.split.val
        parts = halves(val, np.random.RandomState(task.seed), by_class=False)
        made = [(self.make(val.take(one)), val.take(other)) for one, other in parts]
        for tolerance in TOLERANCES:
            found = [task.on(self.model(forest, tolerance), rows) for forest, rows in made]
            cost, score = np.mean(found, axis=0)
            setting = f"{name}budget {self.budget:.4g}, tolerance {tolerance:g} sd: {self.choices!r}"
            final = partial(self.final, tolerance)
            yield Point(setting, float(cost), float(score), final, trained_on=T_AND_V)


def stopping_early(task: Task) -> Iterator[Point]:
    """The base forest, pruned and refitted; documents stop once their score is known within a tolerance."""
    problem = base_problem(task)
    model, whole = grown(task), problem.cost_of(problem.unpruned)
    for share in task.deadline.within(task.grids.budgets):
        yield from _ranking_settings(task, model, share * whole).points("")


def booster_stopping_early(task: Task) -> Iterator[Point]:
    """CEGB with low costs, pruned and refitted; documents stop as in `stopping_early`."""
    for name, model, cost in boosting.grown_boosters(task):
        for share in task.deadline.within(BOOSTER_SHARES):
            yield from _ranking_settings(task, model, share * cost, refit="own").points(name)


def _ranking_settings(task: Task, model: Any, budget: float, **settings: Any) -> RankingSettings:
    """Choose error estimate and refit for a budget, by cross-fitting inside V."""
    estimator = fitted(task, model, budget, **settings)
    return RankingSettings(task, estimator.path_.forest, estimator.choices_, budget)


# --- Compared methods ---------------------------------------------------------------------------------------

EARLY, EARLY_BOOSTER = "ours: refitted, stops early", "ours on CEGB, stops early"
# Methods that need labels are left out: a ranking has none.
_BY_LABEL = (
    "ours: decided early",
    "ours: decided early, slack",
    "ours on CEGB, decided early",
    _methods.SUBSETS,
    _methods.CASCADE,
)
_OWN = (
    Method("GreedyMiser", greedy_miser),
    Method(EARLY, stopping_early),
    Method(EARLY_BOOSTER, booster_stopping_early),
)

METHODS = {name: method for name, method in _methods.METHODS.items() if name not in _BY_LABEL} | {
    method.name: method for method in _OWN
}
LINE_STYLES = _methods.LINE_STYLES | {
    EARLY: LineStyle(ORANGE_RED, "D", width=1.8),
    EARLY_BOOSTER: LineStyle(CRIMSON, "X", width=2.2),
}
PANELS = {
    "the paper's methods": _methods.PAPER,
    "beyond the paper": (
        *(name for name in _methods.BEYOND if name not in _BY_LABEL),
        EARLY,
        EARLY_BOOSTER,
    ),
}
