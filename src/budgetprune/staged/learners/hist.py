"""Learner with scikit-learn's HistGradientBoosting, for installations without LightGBM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from budgetprune.forest import Forest
from budgetprune.staged.data.sample import LearningSample, Scores
from budgetprune.staged.learners.learner import FEWEST_ROUNDS, PATIENCE, Learner
from budgetprune.staged.learners.losses import mean_loss
from budgetprune.staged.learners.task import GrowTask, ValidationRows
from budgetprune.staged.learners.trees import GrownTrees, map_to_all_features, single_thread_scores
from budgetprune.staged.model.join import take_trees
from budgetprune.utils.threads import kernel_threads

# Rounds of the first call of `fit` and of each further one. Every call bins the rows again, so few calls with
# many rounds are faster.
_FIRST_ROUNDS, _MORE_ROUNDS = 30, 60
# Fewer bins make the search for splits faster; with few rows, the accuracy is the same.
_FEW_ROWS, _FEW_BINS, _MANY_BINS = 10_000, 64, 255
# Weight of the added row of an absent class, relative to the mean weight.
_NO_WEIGHT = 1e-6


@cache
def _controller() -> ThreadpoolController:
    """Return a controller of OpenMP's threads; finding the libraries is slow, so it is cached."""
    import sklearn.ensemble  # noqa: F401  (loads its OpenMP library)

    return ThreadpoolController()


class _TimeLimitScorer:
    """Scorer that stops HistGradientBoosting at the deadline: the score increases each round until then."""

    def __init__(self, is_over: Callable[[], bool]) -> None:
        self._is_over, self._score = is_over, 0

    def __call__(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        if self._score < FEWEST_ROUNDS or not self._is_over():
            self._score += 1
        return float(self._score)


class _GrownByHist(GrownTrees):
    def __init__(self, forest: Forest, n_rounds: int, gains: NDArray[np.float64]) -> None:
        self._forest, self.n_rounds, self.gains = forest, n_rounds, gains

    def scores(self, rows: NDArray[np.float64]) -> Scores:
        return single_thread_scores(self._forest, rows)

    def forest(self) -> Forest:
        return self._forest


class HistLearner(Learner):
    """HistGradientBoosting. It cannot start from given scores, so each stage is a model of its own."""

    name = "hist"
    decay = 0.0

    def _grow(self, task: GrowTask) -> GrownTrees:
        # Several models train at the same time; by default, OpenMP would use all cores for each of them.
        with _controller().limit(limits=task.n_threads, user_api="openmp"):
            if task.validation is not None and task.n_rounds is None:
                return self._grow_until_best(task, task.validation)
            model = self._model(task)
            self._fit(model, task)
            return self._grown(model, task)

    def _grow_until_best(self, task: GrowTask, validation: ValidationRows) -> GrownTrees:
        """Train with early stopping on validation rows, and keep the rounds with the lowest loss."""
        model = self._model(task).set_params(warm_start=True)
        seen, most = validation.sample, model.max_iter
        n_rounds, losses = 0, [np.inf]
        while n_rounds < most and n_rounds - int(np.argmin(losses)) < PATIENCE:
            wanted = min(most, n_rounds + (_MORE_ROUNDS if n_rounds else _FIRST_ROUNDS))
            self._fit(model.set_params(max_iter=wanted), task)
            forest = map_to_all_features(Forest.from_model(model), task.columns, task.sample.columns)
            losses = [np.inf, *(mean_loss(seen, scores) for scores in _scores_by_round(forest, seen.rows))]
            n_rounds = model.n_iter_
            if n_rounds < wanted:
                break  # stopped at the deadline
        return self._grown(model, task, int(np.argmin(losses)))

    def _fit(self, model: Any, task: GrowTask) -> None:
        sample = _with_all_classes(task.sample)
        model.fit(sample.rows[:, task.columns], sample.target, sample_weight=sample.weight)

    def _model(self, task: GrowTask) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind, settings = task.sample.kind, task.settings
        is_categorical = task.sample.columns.is_categorical(task.columns)
        losses = {"regression": "squared_error", "positive": "gamma"}
        model: Any = (
            HistGradientBoostingRegressor(loss=losses[kind])
            if kind in losses
            else HistGradientBoostingClassifier()
        )
        return model.set_params(
            max_iter=task.n_rounds or settings.most_rounds,
            max_leaf_nodes=settings.n_leaves,
            learning_rate=settings.learning_rate,
            min_samples_leaf=settings.least_rows,
            max_bins=_FEW_BINS if len(task.sample) < _FEW_ROWS and not is_categorical.any() else _MANY_BINS,
            early_stopping=True,
            scoring=_TimeLimitScorer(task.is_over),
            n_iter_no_change=1,
            tol=0.0,
            validation_fraction=None,
            categorical_features=is_categorical,
            random_state=task.seed,
        )

    def _grown(self, model: Any, task: GrowTask, n_rounds: int | None = None) -> GrownTrees:
        forest, about = Forest.from_model(model), task.sample.columns
        assert forest.tree_round is not None
        n_rounds = n_rounds or model.n_iter_
        forest = take_trees(forest, 0, int(np.searchsorted(forest.tree_round, n_rounds)))
        complete = map_to_all_features(forest, task.columns, about)
        split, gain = forest.is_split, forest.split_gain
        assert gain is not None
        gains = np.zeros(about.n_features)
        np.add.at(gains, complete.feature[split], gain[split])
        return _GrownByHist(complete, n_rounds, gains)

    def gains(self, grown: GrownTrees, n_features: int) -> NDArray[np.float64]:
        return grown.gains if isinstance(grown, _GrownByHist) else np.zeros(n_features)


def _with_all_classes(sample: LearningSample) -> LearningSample:
    """Add a row of tiny weight for each absent class; the library counts the classes in the rows."""
    if sample.kind not in ("binary", "multiclass"):
        return sample
    absent = np.setdiff1d(np.arange(max(2, sample.n_outputs)), sample.target)
    if not absent.size:
        return sample
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    return replace(
        sample,
        rows=np.concatenate([sample.rows, np.repeat(sample.rows[:1], absent.size, axis=0)]),
        target=np.concatenate([sample.target, absent]),
        weight=np.append(weight, np.full(absent.size, _NO_WEIGHT * weight.mean())),
    )


def _scores_by_round(forest: Forest, rows: NDArray[np.float64]) -> Iterator[Scores]:
    """Compute scores after each round."""
    with kernel_threads(1):
        leaves = forest.apply(rows)
    # Each round has one tree per output, in order.
    values = forest.value[leaves, 0].reshape(len(rows), -1, forest.n_outputs)
    scores = forest.base + np.cumsum(values, axis=1)
    return (scores[:, k] for k in range(scores.shape[1]))
