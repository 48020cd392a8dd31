"""Comparison of methods on one split: equal time to tune on V, then evaluation on test rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from budgetprune.costs import FeatureCosts
from budgetprune.errors import BudgetWarning
from budgetprune.selection import LabelledRows
from budgetprune_experiments.experiment import Record
from budgetprune_experiments.grids import Grids
from budgetprune_experiments.records import undominated
from budgetprune_experiments.split import Split

Item = TypeVar("Item")
# Values of `Point.trained_on`: the rows whose labels a model was trained on.
T, T_AND_V = "T", "T and V"
# Points of a curve that are computed regardless of the time limit.
FEWEST_POINTS = 4


class Deadline:
    """Time limit of one method; `seconds` may be infinite."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = time.perf_counter()
        self._charged: set[Hashable] = set()

    @property
    def used(self) -> float:
        return time.perf_counter() - self._start

    @property
    def is_over(self) -> bool:
        return self.used >= self.seconds

    def charge(self, what: Hashable, seconds: float) -> None:
        """Charge the time of a shared result computed for another method, once."""
        if what not in self._charged:
            self._start -= seconds
            self._charged.add(what)

    def within(self, items: Iterable[Item], at_least: int = 1) -> Iterator[Item]:
        """Yield items until the deadline, but always the first few."""
        for k, item in enumerate(items):
            if k >= at_least and self.is_over:
                return
            yield item


@dataclass(frozen=True, eq=False)
class Point:
    """One setting of a method, evaluated on V.

    Attributes
    ----------
    setting : str
    cost, score : float
        On validation rows not used by the model; cross-fitted if all of them are used.
    model : callable
        Makes the model for test rows, with `acquisition_cost` and the methods that `Task.measure` calls.
    refit : callable or None
        Refits it on T and V, once it is chosen; for methods that use no label of V otherwise.
    trained_on : str
        Rows whose labels `model` was trained on.
    """

    setting: str
    cost: float
    score: float
    model: Callable[[], Any]
    refit: Callable[[], Any] | None = None
    trained_on: str = T


@dataclass(eq=False)
class Task:
    """Rows, prices and base forest shared by all methods, and the time limit of the current one.

    Attributes
    ----------
    split : Split
    costs : FeatureCosts
    base : estimator
        The forest to be pruned, not fitted yet.
    measure : callable ``(model, rows) -> float``
        Larger is better.
    scoring : scorer or None
        The same for estimators that choose by themselves; None is accuracy.
    grids : Grids
    seconds : float
        Time limit of each method for tuning, and again for refitting the chosen models.
    jobs : int
    """

    split: Split
    costs: FeatureCosts
    base: Any
    measure: Callable[[Any, LabelledRows], float]
    scoring: Any = None
    grids: Grids = field(default_factory=Grids)
    seconds: float = np.inf
    jobs: int = 1
    deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = Deadline(self.seconds)
        self._results: dict[Hashable, tuple[Any, float]] = {}

    @property
    def seed(self) -> int:
        return self.split.seed

    def shared(self, key: Hashable, make: Callable[[], Item]) -> Item:
        """Compute a shared result once; its time counts for each method that uses it.

        `make` must not request other shared results; request these before.
        """
        if key in self._results:
            self.deadline.charge(key, self._results[key][1])
        else:
            start = time.perf_counter()
            made = make()
            self._results[key] = made, time.perf_counter() - start
            self.deadline.charge(key, 0.0)  # this method has spent the time already
        return self._results[key][0]  # type: ignore[no-any-return]

    def on(self, model: Any, rows: LabelledRows) -> tuple[float, float]:
        """Compute average cost and score of a model."""
        return float(model.acquisition_cost(rows.X).mean()), self.measure(model, rows)

    def point(self, setting: str, model: Any, refit: Callable[[], Any] | None = None) -> Point:
        """Evaluate on V a model that uses no label of V."""
        cost, score = self.on(model, self.split.val)
        return Point(setting, cost, score, lambda: model, refit)


@dataclass(frozen=True)
class Method:
    """Prediction method: yields its points one by one, from coarse to fine, until the deadline."""

    name: str
    curve: Callable[[Task], Iterator[Point]]
    is_ours: bool = False


def evaluate_method(method: Method, task: Task) -> list[Record]:
    """Tune a method on V, and report its undominated settings on test rows.

    Models trained on T alone are refitted on T and V; ours use V to refit leaves. Refitting has the same time
    limit as tuning. After it, models stay as trained on T, or are left out if they were never computed.
    """
    task.deadline = tuning = Deadline(task.seconds)
    with warnings.catch_warnings():
        # Models at the ends of a grid may acquire nothing or not converge. Such models are not chosen on V.
        warnings.simplefilter("ignore", BudgetWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        tried = list(method.curve(task))
        seconds_tuning = tuning.used
        best = [tried[k] for k in undominated([one.cost for one in tried], [one.score for one in tried])]
        records = list(_report(best, task))
    common = {
        "method": method.name,
        "seed": task.seed,
        **task.split.sizes,
        "seconds_tuning": round(seconds_tuning, 3),
        "n_tried": len(tried),
    }
    return [common | record for record in sorted(records, key=lambda record: float(record["test_cost"]))]


def _report(best: Sequence[Point], task: Task) -> Iterator[Record]:
    # A model without features predicts a constant.
    best = [point for point in best if point.cost > 0] or best
    # Differences between small costs matter more than those between large ones.
    order = coarse_to_fine(np.sqrt([point.cost for point in best]), task.grids.n_reported)
    clock = task.deadline = Deadline(task.seconds)
    for k, i in enumerate(order):
        point = best[i]
        is_late = k >= FEWEST_POINTS and clock.is_over
        if is_late and point.refit is None:
            break  # later points lie between those that are reported
        is_refitted = point.refit is not None and not is_late
        model = point.refit() if is_refitted else point.model()
        cost, score = task.on(model, task.split.test)
        yield {
            "setting": point.setting,
            "trained_on": T_AND_V if is_refitted else point.trained_on,
            "val_cost": point.cost,
            "val_score": point.score,
            "test_cost": cost,
            "test_score": score,
        }


def coarse_to_fine(values: ArrayLike, most: int | None = None) -> NDArray[np.intp]:
    """Order values so that every prefix is spread out: ends first, then the farthest from all chosen.

    Returns at most `most` indices, without duplicates once all distinct values are included.
    """
    places = np.asarray(values, dtype=np.float64)
    n_wanted = places.size if most is None else min(most, places.size)
    order: list[int] = []
    distance = np.full(places.size, np.inf)
    while len(order) < n_wanted:
        k = int(distance.argmax() if order else places.argmin())
        if order and distance[k] == 0:
            break
        order.append(k)
        distance = np.minimum(distance, np.abs(places - places[k]))
    return np.array(order, dtype=np.intp)
