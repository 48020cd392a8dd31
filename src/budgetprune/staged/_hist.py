"""Stages that scikit-learn's HistGradientBoosting grows, where LightGBM is not installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from budgetprune.forest import Forest
from budgetprune.staged._grown import on_all_features
from budgetprune.staged._learner import PATIENCE, Learner, Task
from budgetprune.staged._sample import Grown, Sample, Scores, mean_loss


class _GrownByHist(Grown):
    def __init__(self, forest: Forest, n_rounds: int, gains: NDArray[np.float64]) -> None:
        self._forest, self.n_rounds, self.gains = forest, n_rounds, gains

    def scores(self, rows: NDArray[np.float64]) -> Scores:
        return self._forest.scores(rows)

    def forest(self) -> Forest:
        return self._forest


class HistLearner(Learner):
    """scikit-learn's HistGradientBoosting, which cannot start from given scores: each stage stands alone."""

    decay = 0.0

    def _grow(self, task: Task) -> Grown:
        # OpenMP would take all cores, for each of the models that are grown at the same time.
        with threadpool_limits(task.n_threads, user_api="openmp"):
            if task.validation is not None and task.n_rounds is None:
                return self._grow_until_best(task, task.validation.sample)
            model = self._model(task)
            self._fit(model, task)
            return self._grown(model, task)

    def _grow_until_best(self, task: Task, seen: Sample) -> Grown:
        """Add rounds as long as the loss on other rows falls."""
        model = self._model(task).set_params(warm_start=True)
        most, best, best_loss, n_rounds = model.max_iter, None, np.inf, 0
        while n_rounds < most:
            n_rounds = min(most, n_rounds + PATIENCE)
            self._fit(model.set_params(max_iter=n_rounds), task)
            grown = self._grown(model, task)
            loss = mean_loss(seen, grown.scores(seen.rows))
            if loss >= best_loss:
                break
            best, best_loss = grown, loss
            if task.is_over():
                break
        assert best is not None
        return best

    def _fit(self, model: Any, task: Task) -> None:
        sample = task.sample
        model.fit(sample.rows[:, task.columns], sample.target, sample_weight=sample.weight)

    def _model(self, task: Task) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind, settings = task.sample.kind, task.settings
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
            early_stopping=False,
            categorical_features=task.sample.columns.is_categorical(task.columns),
            random_state=task.seed,
        )

    def _grown(self, model: Any, task: Task) -> Grown:
        forest, about = Forest.from_model(model), task.sample.columns
        complete = on_all_features(forest, task.columns, about)
        split = forest.is_split
        assert forest.split_gain is not None
        gains = np.zeros(about.n_features)
        np.add.at(gains, complete.feature[split], forest.split_gain[split])
        return _GrownByHist(complete, model.n_iter_, gains)

    def gains(self, grown: Grown, n_features: int) -> NDArray[np.float64]:
        return grown.gains if isinstance(grown, _GrownByHist) else np.zeros(n_features)
