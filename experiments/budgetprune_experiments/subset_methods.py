"""LightGBM on subsets of the sources: the best subset for a budget, and a cascade of subsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from budgetprune.baselines.elimination import Chain, Needs, eliminate
from budgetprune.baselines.stopping_rules import Stages
from budgetprune.baselines.subset_models import Boosting, StagedModel, SubsetModel, weigh_classes
from budgetprune.selection import LabelledRows
from budgetprune_experiments.boosting_methods import mean_price
from budgetprune_experiments.contest import Contest, Point, coarse_to_fine

# Folds of V that take turns in being judged by thresholds of the others.
N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class Nested:
    """Nested subsets, chosen on T and V, and how models on them are trained.

    Attributes
    ----------
    contest : Contest
    chain : Chain
    acquired : bool array of shape (n_subsets, n_sources)
    price : float64 array of shape (n_subsets,)
    """

    contest: Contest
    chain: Chain
    acquired: NDArray[np.bool_]
    price: NDArray[np.float64]

    @classmethod
    def of(cls, contest: Contest) -> Nested:
        """Eliminate sources, once for all methods; trees of the smallest size are enough for that."""

        def search() -> Chain:
            train, val = (_numbered(contest, rows) for rows in (contest.split.train, contest.split.val))
            prices = contest.costs.resolve(train.X.shape[1])
            return eliminate(prices, train, val, _boosting(contest, min(contest.grids.subsets.sizes)))

        chain = contest.shared("nested subsets", search).thinned()
        needs = Needs(chain.prices)
        acquired = np.array([needs.acquired(columns) for columns in chain.columns])
        return cls(contest, chain, acquired, chain.prices.total(acquired))

    def within_time(self, size: int) -> Iterator[int]:
        """Numbers of subsets with a model on T, from coarse to fine; some of the first size in any case."""
        contest = self.contest
        order = coarse_to_fine(np.sqrt(self.price)).tolist()
        at_least = contest.grids.n_reported if size == contest.grids.subsets.sizes[0] else 1
        for k in contest.deadline.within(order, at_least):
            self.model(k, size)
            yield k

    def model(self, k: int, size: int, *, again: bool = False) -> SubsetModel:
        """The model of a subset, trained on T, or `again` on T and V."""
        contest = self.contest
        rows = contest.split.train_and_val if again else contest.split.train

        def train() -> SubsetModel:
            return _boosting(contest, size).train(_numbered(contest, rows), self.chain.columns[k])

        return contest.shared(("subset", k, size, again), train)

    def staged(
        self, stages: Sequence[int], threshold: NDArray[np.float64], size: int, n_rounds: int, *, again: bool
    ) -> StagedModel:
        """Models of some subsets, one after the other, after some rounds."""
        models = tuple(self.model(k, size, again=again).first_rounds(n_rounds) for k in stages)
        return StagedModel(
            self.chain.prices, self.acquired[list(stages)], models, threshold, _classes(self.contest)
        )


def feature_subsets(contest: Contest) -> Iterator[Point]:
    """One model on everything that a subset of the sources gives."""
    nested = Nested.of(contest)
    for size in contest.deadline.within(contest.grids.subsets.sizes):
        for k in nested.within_time(size):
            for n_rounds in contest.grids.subsets.rounds:
                setting = f"{nested.acquired[k].sum()} sources, {size} leaves, {n_rounds} rounds"
                make = partial(nested.staged, [k], np.array([-np.inf]), size, n_rounds)
                yield contest.point(setting, make(again=False), partial(make, again=True))


def cascade(contest: Contest) -> Iterator[Point]:
    """The same models as stages of a cascade, with thresholds from V."""
    nested = Nested.of(contest)
    for size in contest.deadline.within(contest.grids.subsets.sizes):
        stages = sorted(nested.within_time(size))
        # All models answer for all of V, which takes time too.
        for n_rounds in contest.deadline.within(sorted(contest.grids.subsets.rounds, reverse=True)):
            yield from _rules(nested, stages, size, n_rounds)


def _rules(nested: Nested, stages: Sequence[int], size: int, n_rounds: int) -> Iterator[Point]:
    """Rules for many prices of cost; on V, those of other rows are judged."""
    contest, price = nested.contest, nested.price[list(stages)]
    val = _numbered(contest, contest.split.val)
    shares = [nested.model(k, size).first_rounds(n_rounds).probabilities(val.X) for k in stages]
    known = Stages.of(shares, val, price)
    lam = known.lambdas()
    folds = KFold(min(N_FOLDS, len(val)), shuffle=True, random_state=contest.seed).split(val.y)
    stopped, threshold = known.cross_fitted(lam, folds), known.thresholds(lam)
    label = _classes(contest)[np.array([share.argmax(axis=1) for share in shares])]
    for i, stage in enumerate(stopped):
        if i and np.array_equal(threshold[i], threshold[i - 1]):
            continue
        answers = _Answers(label[stage, np.arange(len(val))])
        make = partial(nested.staged, stages, threshold[i], size, n_rounds)
        yield Point(
            f"lambda {lam[i] * mean_price(contest):.3g}, {size} leaves, {n_rounds} rounds",
            float(price[stage].mean()),
            contest.measure(answers, contest.split.val),
            partial(make, again=False),
            partial(make, again=True),
        )


@dataclass(frozen=True, eq=False)
class _Answers:
    """Precomputed labels."""

    label: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        return self.label


def _boosting(contest: Contest, size: int) -> Boosting:
    grid = contest.grids.subsets
    others = {"min_child_weight": grid.least_hessian}
    return Boosting(size, max(grid.rounds), grid.learning_rate, contest.seed, contest.jobs, others)


def _classes(contest: Contest) -> NDArray[Any]:
    return np.unique(contest.split.train.y)


def _numbered(contest: Contest, rows: LabelledRows) -> LabelledRows:
    """Rows with the numbers of their classes, which weigh as much as in the base forest."""
    weight = weigh_classes(contest.base.get_params().get("class_weight"), rows.y)
    return LabelledRows(rows.X, np.searchsorted(_classes(contest), rows.y), weight)
