"""`StageTrainer`: trains the stages of a chain by cross-fitting."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.data.folds import Fold
from budgetprune.staged.data.sample import LearningSample, Scores
from budgetprune.staged.learners.calibration import calibrated_loss
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings, ValidationRows
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.plan import StagePlan, StageSpec, relative_time, speed_up
from budgetprune.utils.threads import map_in_threads

# Share of its proportional part of the time that the first fold may take. It is below 1, because the first
# fold is trained again if the time is too short for its number of rounds.
FIRST_FOLD_SHARE = 0.85
# Minimum share of the rounds, trained even after the deadline.
LEAST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Stages trained on all rows, and out-of-fold scores of each row.

    Attributes
    ----------
    forests : for each stage, its trees
    scores : for each stage, out-of-fold scores of shape (n_rows, n_outputs)
        NaN for rows that no fold tests.
    """

    forests: tuple[Forest, ...]
    scores: tuple[Scores, ...]

    def of_rows(self, rows: NDArray[np.intp]) -> CrossFitted:
        """Return the same with the scores of some rows."""
        return CrossFitted(self.forests, tuple(each[rows] for each in self.scores))


@dataclass(frozen=True, eq=False)
class StageTrainer:
    """Train the stages of chains.

    Attributes
    ----------
    learner : Learner
    settings : tuple of TreeSettings
        Candidates: first for stages of few features, last for the stage with all features.
    seed, n_jobs : int
    on_progress : callable
        Called after each stage of a fold.
    deadline : Deadline
    last_stage_factor : int
        Factor for the maximum number of rounds of the last stage.
    single_setting : bool
        Whether each stage has one candidate only, to save time.
    """

    learner: Learner
    settings: tuple[TreeSettings, ...]
    seed: int
    n_jobs: int
    on_progress: Callable[[], Any]
    deadline: Deadline
    last_stage_factor: int
    single_setting: bool = False

    def cross_fit(self, plan: StagePlan, sample: LearningSample, folds: Sequence[Fold]) -> CrossFitted:
        """Train all stages on all rows, and for each fold on the rows outside it.

        The settings and the number of rounds of each stage are chosen on the first fold. If the time is too
        short, the number of rounds is reduced for all folds. It is the same for all folds and for the stages
        trained on all rows, because stopping rules are learnt from the former and used with the latter.
        """
        scores = tuple(np.full((len(sample), sample.n_outputs), np.nan) for _ in plan.columns)
        n_tried = 1 if self.single_setting else 2
        first = FIRST_FOLD_SHARE * n_tried / (n_tried + len(folds))

        def train_chain(fold: Fold, specs: Sequence[StageSpec] | None) -> list[StageSpec]:
            train, test = fold
            n_threads = self.n_jobs if specs is None else 1
            found = self._chain(plan, sample.take(train), sample.take(test), specs, n_threads, first)
            for k, (_, _, seen) in enumerate(found):
                scores[k][test] = seen
            return [used for _, used, _ in found]

        specs = train_chain(folds[0], None)
        # Stages on all rows take longer than those of a fold.
        share = self._share_of_rounds(specs, len(folds) + len(sample) / len(folds[0][0]))
        others = folds[1:]
        if share < 1:
            specs, others = [spec.shortened(share) for spec in specs], folds

        def train_others(fold: Fold | None) -> list[GrownTrees]:
            if fold is not None:
                train_chain(fold, specs)
                return []
            found = self._chain(plan, sample, sample.take(folds[0][1][:1]), specs, 1, 1.0)
            return [grown for grown, _, _ in found]

        # The stages on all rows take longest, so they start first.
        stages, *_ = map_in_threads(train_others, [None, *others], self.n_jobs)
        return CrossFitted(tuple(grown.forest() for grown in stages), scores)

    def _share_of_rounds(self, specs: Sequence[StageSpec], n_times: float) -> float:
        """Share of the rounds that fit into the time if each stage is trained `n_times` times."""
        seconds = n_times * sum(spec.seconds for spec in specs) / speed_up(self.n_jobs)
        left = max(self.deadline.left(), 0.0)
        return 1.0 if seconds <= left else max(left / seconds, LEAST_SHARE)

    def test_scores(self, plan: StagePlan, train: LearningSample, test: LearningSample) -> Scores:
        """Train all stages on training rows, and return the scores of test rows at the last stage."""
        return self._chain(plan, train, test, None, self.n_jobs, FIRST_FOLD_SHARE)[-1][2]

    def _chain(
        self,
        plan: StagePlan,
        train: LearningSample,
        test: LearningSample,
        specs: Sequence[StageSpec] | None,
        n_threads: int,
        share: float,
    ) -> list[tuple[GrownTrees, StageSpec, Scores]]:
        """Train one stage after the other.

        Parameters
        ----------
        plan : StagePlan
        train, test : LearningSample
        specs : one for each stage; None: chosen on the test rows
        n_threads : int
        share : share of the remaining time that these stages may take, if `specs` is None

        Returns
        -------
        found : for each stage, its trees, the specification used, and the scores of the test rows
        """
        decay = self.learner.decay
        start = seen = None
        found: list[tuple[GrownTrees, StageSpec, Scores]] = []
        deadline = self.deadline.share(share) if specs is None else Deadline(None)
        rotation = _SettingsRotation(self.settings)
        portion = relative_time(plan.columns)
        for k, columns in enumerate(plan.columns):
            candidates = [specs[k]] if specs is not None else self._candidates(rotation, plan, k)
            stage = _Stage(train, test, columns, start, seen, self.seed + k, n_threads)
            # Candidates on other processors are trained at the same time, and each may take all of it.
            n_at_once = len(candidates) if self.learner.is_remote else 1
            mine, later = portion[k] / len(candidates) * n_at_once, portion[k + 1 :].sum()
            limits = [
                mine / (later + mine * (-(-(len(candidates) - i) // n_at_once)))
                for i in range(len(candidates))
            ]
            tried = map_in_threads(
                partial(self._attempt, stage, candidates, limits, deadline), range(len(candidates)), n_at_once
            )
            _, _, grown, used, seen = min(tried, key=lambda each: each[:2])
            rotation.note(used.settings, n_tried=len(tried))
            start = grown.scores(train.rows) + (0 if start is None else decay * start)
            found.append((grown, used, seen))
            self.on_progress()
        return found

    def _attempt(
        self,
        stage: _Stage,
        candidates: Sequence[StageSpec],
        limits: Sequence[float],
        deadline: Deadline,
        i: int,
    ) -> tuple[float, int, GrownTrees, StageSpec, Scores]:
        """Train candidate `i` of a stage: its loss, number, trees, the specification used, test scores."""
        decay, spec, began = self.learner.decay, candidates[i], time.monotonic()
        task = GrowTask(
            stage.train,
            stage.columns,
            None if stage.start is None or not decay else decay * stage.start,
            spec.n_rounds,
            spec.settings,
            validation=ValidationRows(
                stage.test, None if stage.seen is None or not decay else decay * stage.seen
            ),
            seed=stage.seed,
            n_threads=stage.n_threads,
            is_over=deadline.share(limits[i]).is_over,
        )
        grown = self.learner.grow(task)
        scores = grown.scores(stage.test.rows) + (0 if stage.seen is None else decay * stage.seen)
        used = StageSpec(spec.settings, max(grown.n_rounds, 1), time.monotonic() - began)
        loss = 0.0 if len(candidates) == 1 else calibrated_loss(stage.test, scores)
        return loss, i, grown, used, scores

    def _candidates(self, rotation: _SettingsRotation, plan: StagePlan, k: int) -> list[StageSpec]:
        """List the candidate specifications of stage `k`."""
        if not plan.columns[k].size:
            return [StageSpec(self.settings[0], None)]
        if self.single_setting:
            is_last = k == len(plan.columns) - 1
            return [StageSpec(self.settings[-1] if is_last else self.settings[0], None)]
        if k < len(plan.columns) - 1:
            return [StageSpec(each, None) for each in rotation.next_candidates()]
        best = dict.fromkeys([rotation.best, self.settings[-1]])
        return [
            StageSpec(replace(each, most_rounds=self.last_stage_factor * each.most_rounds), None)
            for each in best
        ]


@dataclass(frozen=True, eq=False)
class _Stage:
    """Rows and columns of a stage; `start` and `seen` are the scores of the stage before on both."""

    train: LearningSample
    test: LearningSample
    columns: NDArray[np.intp]
    start: Scores | None
    seen: Scores | None
    seed: int
    n_threads: int


class _SettingsRotation:
    """Candidate settings for consecutive stages: the best so far and, in rotation, one other.

    The best settings change with the number of features, and so from stage to stage. The first stage tries
    all settings, and each of them also with fewer leaves.
    """

    def __init__(self, settings: Sequence[TreeSettings]) -> None:
        fewer = [replace(each, n_leaves=max(7, each.n_leaves // 3)) for each in settings]
        self._order = list(dict.fromkeys([*settings, *fewer]))
        self._has_begun = False

    @property
    def best(self) -> TreeSettings:
        return self._order[0]

    def next_candidates(self) -> list[TreeSettings]:
        """Settings to try for the next stage."""
        return self._order[: 2 if self._has_begun else None]

    def note(self, winner: TreeSettings, n_tried: int) -> None:
        """Move the best settings of the last `n_tried` to the front, and the others of them to the end."""
        if n_tried > 1 and winner in self._order:
            losers = [each for each in self._order[:n_tried] if each != winner]
            self._order = [winner, *self._order[n_tried:], *losers]
            self._has_begun = True
