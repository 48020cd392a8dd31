"""Train the stages of a chain, and see how each does on rows that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune._threads import map_in_threads
from budgetprune.forest import Forest
from budgetprune.staged._learner import Learner, Task
from budgetprune.staged._sample import Grown, Sample, Scores, Settings, Validation, mean_loss

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
# Settings, and the number of rounds; None: as many as validation rows ask for.
_Way = tuple[Settings, int | None]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is trained: the columns of each stage, and how.

    Attributes
    ----------
    sources : for each stage, the sources that are bought for it
    columns : for each stage, the features that are available
    """

    sources: tuple[tuple[int, ...], ...]
    columns: tuple[NDArray[np.intp], ...]


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """The stages, trained on all rows, and what stages that were trained on other rows say about each row.

    Attributes
    ----------
    forests : for each stage its trees
    scores : for each stage, out-of-fold scores of shape (n_rows, n_outputs)
    """

    forests: tuple[Forest, ...]
    scores: tuple[Scores, ...]


@dataclass(frozen=True, eq=False)
class Trainer:
    """How stages are trained, and with how many threads.

    Attributes
    ----------
    tell : called whenever a stage of a fold is done
    is_over : whether the time is over
    last : how many times as many rounds the last stage may take
    """

    learner: Learner
    settings: Settings
    seed: int
    n_jobs: int
    tell: Callable[[], Any]
    is_over: Callable[[], bool]
    last: int

    def cross_fit(self, plan: Plan, sample: Sample, folds: Sequence[Fold]) -> CrossFitted:
        """Train all stages on all rows, and for each fold on the rows outside it.

        The first fold says how many rounds each stage takes, and how many leaves; the others take as many.
        """
        scores = tuple(np.empty((len(sample), sample.n_outputs)) for _ in plan.columns)

        def train_chain(fold: Fold, ways: Sequence[_Way] | None) -> list[_Way]:
            train, test = fold
            n_threads = self.n_jobs if ways is None else 1
            found = self._chain(plan, sample.take(train), sample.take(test), ways, n_threads)
            for k, (_, _, seen) in enumerate(found):
                scores[k][test] = seen
            return [way for _, way, _ in found]

        ways = train_chain(folds[0], None)

        def train_others(fold: Fold | None) -> list[Grown]:
            if fold is not None:
                train_chain(fold, ways)
                return []
            found = self._chain(plan, sample, sample.take(folds[0][1][:1]), ways, 1)
            return [grown for grown, _, _ in found]

        # First the stages on all rows, which take longest.
        stages, *_ = map_in_threads(train_others, [None, *folds[1:]], self.n_jobs)
        return CrossFitted(tuple(grown.forest() for grown in stages), scores)

    def _chain(
        self, plan: Plan, train: Sample, test: Sample, ways: Sequence[_Way] | None, n_threads: int
    ) -> list[tuple[Grown, _Way, Scores]]:
        """Train one stage after the other.

        Returns
        -------
        found : for each stage its trees, how they were grown, and the scores of the test rows
        """
        decay = self.learner.decay
        start = seen = None
        found: list[tuple[Grown, _Way, Scores]] = []
        for k, columns in enumerate(plan.columns):
            is_last = k == len(plan.columns) - 1
            tried: list[tuple[float, int, Grown, Settings, Scores]] = []
            for settings, n_rounds in [ways[k]] if ways is not None else self._ways(columns, is_last):
                task = Task(
                    train,
                    columns,
                    None if start is None or not decay else decay * start,
                    n_rounds,
                    settings,
                    validation=Validation(test, None if seen is None or not decay else decay * seen),
                    seed=self.seed + k,
                    n_threads=n_threads,
                    is_over=self.is_over,
                )
                grown = self.learner.grow(task)
                scores = grown.scores(test.rows) + (0 if seen is None else decay * seen)
                tried.append((mean_loss(test, scores), len(tried), grown, settings, scores))
            _, _, grown, settings, seen = min(tried, key=lambda each: each[:2])
            start = grown.scores(train.rows) + (0 if start is None else decay * start)
            found.append((grown, (settings, max(grown.n_rounds, 1)), seen))
            self.tell()
        return found

    def _ways(self, columns: NDArray[np.intp], is_last: bool) -> list[_Way]:
        """List how the trees of a stage may be grown: with few features, fewer leaves may do better."""
        if not columns.size:
            return [(self.settings, None)]
        n_rounds = self.settings.most_rounds * (self.last if is_last else 1)
        usual = replace(self.settings, most_rounds=n_rounds)
        small = replace(usual, n_leaves=max(7, usual.n_leaves // 3))
        return [(usual, None), (small, None)]
