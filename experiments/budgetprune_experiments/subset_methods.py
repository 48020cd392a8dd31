"""LightGBM on subsets of the sources: the best subset for a budget, and a cascade of subsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from budgetprune.baselines.elimination import Needs, NestedSubsets, eliminate
from budgetprune.baselines.stopping_rules import Stages
from budgetprune.baselines.subset_models import BoostingParameters, CascadeModel, SubsetModel, weigh_classes
from budgetprune.selection import LabelledRows
from budgetprune_experiments.boosting_methods import mean_price
from budgetprune_experiments.task import Point, Task, coarse_to_fine

# Number of cross-validation folds of V: thresholds are chosen on the other folds.
N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class Nested:
    """Nested subsets, chosen on T and V, and how models on them are trained.

    Attributes
    ----------
    task : Task
    subsets : NestedSubsets
    acquired : bool array of shape (n_subsets, n_sources)
    price : float64 array of shape (n_subsets,)
    """

    task: Task
    subsets: NestedSubsets
    acquired: NDArray[np.bool_]
    price: NDArray[np.float64]

    @classmethod
    def of(cls, task: Task) -> Nested:
        """Eliminate sources, once for all methods; trees of the smallest size are enough for that."""

        def search() -> NestedSubsets:
            train, val = (_numbered(task, rows) for rows in (task.split.train, task.split.val))
            prices = task.costs.resolve(train.X.shape[1])
            return eliminate(prices, train, val, _boosting(task, min(task.grids.subsets.sizes)))

        subsets = task.shared("nested subsets", search).thinned()
        needs = Needs(subsets.prices)
        acquired = np.array([needs.acquired(columns) for columns in subsets.columns])
        return cls(task, subsets, acquired, subsets.prices.total(acquired))

    def within_time(self, size: int) -> Iterator[int]:
        """Train models of one size on T until the deadline; yield the indices of their subsets.

        The order is from coarse to fine. A minimum number of models of the first size is always trained.
        """
        task = self.task
        order = coarse_to_fine(np.sqrt(self.price)).tolist()
        at_least = task.grids.n_reported if size == task.grids.subsets.sizes[0] else 1
        for k in task.deadline.within(order, at_least):
            self.model(k, size)
            yield k

    def model(self, k: int, size: int, *, on_all_rows: bool = False) -> SubsetModel:
        """The model of a subset, trained on T, or with `on_all_rows`, on T and V."""
        task = self.task
        rows = task.split.train_and_val if on_all_rows else task.split.train

        def train() -> SubsetModel:
            return _boosting(task, size).train(_numbered(task, rows), self.subsets.columns[k])

        return task.shared(("subset", k, size, on_all_rows), train)

    def staged(
        self,
        stages: Sequence[int],
        threshold: NDArray[np.float64],
        size: int,
        n_rounds: int,
        *,
        on_all_rows: bool,
    ) -> CascadeModel:
        """Models of some subsets, one after the other, after some rounds."""
        models = tuple(self.model(k, size, on_all_rows=on_all_rows).first_rounds(n_rounds) for k in stages)
        return CascadeModel(
            self.subsets.prices, self.acquired[list(stages)], models, threshold, _classes(self.task)
        )


def feature_subsets(task: Task) -> Iterator[Point]:
    """One model per subset of the sources, on all features that the subset provides."""
    nested = Nested.of(task)
    for size in task.deadline.within(task.grids.subsets.sizes):
        for k in nested.within_time(size):
            for n_rounds in task.grids.subsets.rounds:
                setting = f"{nested.acquired[k].sum()} sources, {size} leaves, {n_rounds} rounds"
                make = partial(nested.staged, [k], np.array([-np.inf]), size, n_rounds)
                yield task.point(setting, make(on_all_rows=False), partial(make, on_all_rows=True))


def cascade(task: Task) -> Iterator[Point]:
    """The same models as stages of a cascade, with thresholds from V."""
    nested = Nested.of(task)
    for size in task.deadline.within(task.grids.subsets.sizes):
        stages = sorted(nested.within_time(size))
        # Predictions of all models for all of V take time as well.
        for n_rounds in task.deadline.within(sorted(task.grids.subsets.rounds, reverse=True)):
            yield from _rules(nested, stages, size, n_rounds)


def _rules(nested: Nested, stages: Sequence[int], size: int, n_rounds: int) -> Iterator[Point]:
    """Stopping rules for many lambdas; their scores on V are cross-fitted."""
    task, price = nested.task, nested.price[list(stages)]
    val = _numbered(task, task.split.val)
    shares = [nested.model(k, size).first_rounds(n_rounds).probabilities(val.X) for k in stages]
    known = Stages.of(shares, val, price)
    lam = known.lambdas()
    folds = KFold(min(N_FOLDS, len(val)), shuffle=True, random_state=task.seed).split(val.y)
    stopped, threshold = known.cross_fitted(lam, folds), known.thresholds(lam)
    label = _classes(task)[np.array([share.argmax(axis=1) for share in shares])]
    for i, stage in enumerate(stopped):
        if i and np.array_equal(threshold[i], threshold[i - 1]):
            continue
        answers = _Answers(label[stage, np.arange(len(val))])
        make = partial(nested.staged, stages, threshold[i], size, n_rounds)
        yield Point(
            f"lambda {lam[i] * mean_price(task):.3g}, {size} leaves, {n_rounds} rounds",
            float(price[stage].mean()),
            task.measure(answers, task.split.val),
            partial(make, on_all_rows=False),
            partial(make, on_all_rows=True),
        )


@dataclass(frozen=True, eq=False)
class _Answers:
    """Precomputed labels."""

    label: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        return self.label


def _boosting(task: Task, size: int) -> BoostingParameters:
    grid = task.grids.subsets
    others = {"min_child_weight": grid.least_hessian}
    return BoostingParameters(size, max(grid.rounds), grid.learning_rate, task.seed, task.jobs, others)


def _classes(task: Task) -> NDArray[Any]:
    return np.unique(task.split.train.y)


def _numbered(task: Task, rows: LabelledRows) -> LabelledRows:
    """Encode labels as class indices, and weight rows by the `class_weight` of the base forest."""
    weight = weigh_classes(task.base.get_params().get("class_weight"), rows.y)
    return LabelledRows(rows.X, np.searchsorted(_classes(task), rows.y), weight)
