"""Scores and costs of methods within budgets: chosen on V, reported on test patients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from budgetprune.baselines import PlainForest
from budgetprune.errors import BudgetWarning
from budgetprune.problem.acquisition import sources_used
from budgetprune.selection import LabelledRows
from budgetprune_experiments.experiment import Record
from budgetprune_experiments.forest_methods import grown
from budgetprune_experiments.our_methods import Decided, fitted
from budgetprune_experiments.patients import Diagnosis
from budgetprune_experiments.task import T_AND_V, Deadline, Method, Point, Task, coarse_to_fine

# Name of the setting that is compared in addition to budgets: the cheapest as good as the forest on V.
AS_GOOD = "as good as the forest"
# Tolerance for rounding of average costs.
ROUNDING = 1e-9


def whole_forest(task: Task) -> Iterator[Point]:
    """The unpruned forest; refitted on T and V, like every baseline."""
    model = PlainForest(FrozenEstimator(grown(task)), costs=task.costs)

    def refit() -> Any:
        rows = task.split.train_and_val
        return PlainForest(clone(task.base), costs=task.costs).fit(rows.X, rows.y)

    yield task.point("all splits", model.fit(task.split.train.X, task.split.train.y), refit)


def ours(task: Task, budgets: Sequence[float], **settings: Any) -> Iterator[Point]:
    """Fit our estimator for each budget; parameters that are not in `settings` are chosen inside V.

    First for the largest budget, with points of its path for the others; then for each budget separately.
    """
    general = fitted(task, grown(task), max(budgets), **settings)
    for budget in budgets:
        yield _point(general.with_budget(budget), f"{budget:g}, choices for {max(budgets):g}")
    for k in task.deadline.within(coarse_to_fine(np.sqrt(budgets)), at_least=0):
        yield _point(fitted(task, grown(task), budgets[k], **settings), f"{budgets[k]:g}")


def _point(model: Any, budget: str) -> Point:
    tradeoff, full_cost = model.tradeoff_, model.path_.at(lam=model.lambda_).cost
    # Cross-fitted, because the final leaves are refitted on all of V.
    score = float(np.interp(full_cost, tradeoff.full_cost[::-1], tradeoff.score[::-1]))
    answers = Decided(model) if model.counting == "decided" else model
    setting = f"budget {budget}: {model.choices_!r}"
    return Point(setting, model.cost_, score, lambda: answers, trained_on=T_AND_V)


def as_good_as(base: str) -> str:
    """Name of the setting that is as good as a base forest, among settings of the same base forest."""
    return f"{AS_GOOD}: {base}"


def tune(curve: Callable[[Task], Iterator[Point]], tasks: Mapping[str, Task]) -> dict[str, list[Point]]:
    """Evaluate all settings of a method for each base forest of one split."""
    points = {}
    for name, task in tasks.items():
        task.deadline = Deadline(task.seconds)
        points[name] = [replace(point, setting=f"{name}; {point.setting}") for point in curve(task)]
    return points


def choose(
    points: Mapping[str, Sequence[Point]], forests: Mapping[str, float], budgets: Iterable[float]
) -> dict[str, Point]:
    """Choose settings of a method on V: one for each budget, and one as good as each base forest.

    Parameters
    ----------
    points : by base forest
    forests : scores of the base forests on V
    budgets : averages per patient
    """
    everything = [point for some in points.values() for point in some]
    chosen = {f"budget {budget:g}": best_within(everything, budget) for budget in budgets}
    chosen[AS_GOOD] = cheapest_reaching(everything, max(forests.values()))
    chosen |= {as_good_as(base): cheapest_reaching(points[base], score) for base, score in forests.items()}
    return {setting: point for setting, point in chosen.items() if point is not None}


def best_within(points: Iterable[Point], budget: float) -> Point | None:
    """Best point on V within the budget; the cheapest on ties."""
    affordable = [point for point in points if point.cost <= budget * (1 + ROUNDING)]
    return max(affordable, key=lambda point: (point.score, -point.cost), default=None)


def cheapest_reaching(points: Sequence[Point], score: float) -> Point:
    """Cheapest point on V that reaches the score; if there is none, the best."""
    good = [point for point in points if point.score >= score]
    if not good:
        return max(points, key=lambda point: (point.score, -point.cost))
    return min(good, key=lambda point: (point.cost, -point.score))


# --- On test rows -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TestPredictions:
    """Predictions for the test rows of one split, and the sources acquired for them."""

    point: Point
    y: NDArray[Any]
    label: NDArray[Any]
    cost: NDArray[np.float64]
    bought: NDArray[np.bool_]

    @classmethod
    def of(cls, point: Point, rows: LabelledRows, task: Task) -> TestPredictions:
        model = (point.refit or point.model)()
        if hasattr(model, "sources_used"):
            bought = model.sources_used(rows.X)
        else:
            bought = sources_used(model.forest_, task.costs.resolve(rows.X.shape[1]), rows.X)
        return cls(point, rows.y, model.predict(rows.X), model.acquisition_cost(rows.X), bought)


def results_within_budgets(
    method: Method, folds: Sequence[Mapping[str, Task]], diagnosis: Diagnosis, budgets: Sequence[float]
) -> list[Record]:
    """Tune a method on every split, and report each budget on the test rows of all of them.

    Parameters
    ----------
    method : Method
    folds : one mapping per split, of base forests by name
    diagnosis : Diagnosis
    budgets : averages per patient; with none, only what is as good as the forest is reported
    """
    settings: dict[str, list[TestPredictions]] = {}
    seconds, n_tried = 0.0, 0
    # The first task caches the results that do not depend on the base forest.
    firsts = [next(iter(tasks.values())) for tasks in folds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)  # small budgets may buy nothing, which the table shows
        for tasks, first in zip(folds, firsts, strict=True):
            clock = Deadline(np.inf)
            points = tune(method.curve, tasks)
            seconds, n_tried = seconds + clock.used, n_tried + sum(map(len, points.values()))
            forests = {base: some[0].score for base, some in tune(whole_forest, tasks).items()}
            made: dict[int, TestPredictions] = {}
            for setting, point in choose(points, forests, budgets).items():
                if id(point) not in made:
                    made[id(point)] = TestPredictions.of(point, first.split.test, first)
                settings.setdefault(setting, []).append(made[id(point)])
    split = firsts[0].split
    names = firsts[0].costs.resolve(split.train.X.shape[1]).source_names
    common = {
        "data": diagnosis.name,
        "method": method.name,
        "seed": split.seed,
        "seconds_tuning": round(seconds, 3),
        "n_tried": n_tried,
        **split.sizes,
        "n_test": sum(len(first.split.test) for first in firsts),
    }
    reported = partial(_record, common=common, diagnosis=diagnosis, names=names)
    # No average if one split has no setting within the budget.
    return [reported(setting, some) for setting, some in settings.items() if len(some) == len(folds)]


def _record(
    setting: str, some: Sequence[TestPredictions], common: Record, diagnosis: Diagnosis, names: Sequence[str]
) -> Record:
    y, label, cost, bought = (
        np.concatenate([getattr(predictions, name) for predictions in some])
        for name in ("y", "label", "cost", "bought")
    )
    return common | {
        "setting": setting,
        "points": [predictions.point.setting for predictions in some],
        "val_cost": float(np.mean([predictions.point.cost for predictions in some])),
        "val_score": float(np.mean([predictions.point.score for predictions in some])),
        "test_cost": float(cost.mean()),
        "test_score": diagnosis.score(y, label),
        "bought": dict(zip(names, bought.mean(axis=0).tolist(), strict=True)),
    }
