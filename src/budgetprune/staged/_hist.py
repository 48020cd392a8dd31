"""Stages that scikit-learn's HistGradientBoosting grows, where LightGBM is not installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from budgetprune.forest import Forest
from budgetprune.staged._grown import on_all_features
from budgetprune.staged._learner import PATIENCE, Learner
from budgetprune.staged._sample import Grown, Sample, Scores, Settings, Validation, mean_loss


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

    def _grow(
        self,
        sample: Sample,
        columns: NDArray[np.intp],
        start: Scores | None,
        n_rounds: int | None,
        settings: Settings,
        validation: Validation | None,
        seed: int,
        n_threads: int,
        is_over: Callable[[], bool],
    ) -> Grown:
        model = self._model(sample, columns, settings, seed, n_rounds or settings.most_rounds)
        # OpenMP would take all cores, for each of the models that are grown at the same time.
        with threadpool_limits(n_threads, user_api="openmp"):
            if validation is not None and n_rounds is None:
                return self._grow_until_best(model, sample, columns, validation, is_over)
            model.fit(sample.rows[:, columns], sample.target, sample_weight=sample.weight)
            return self._grown(model, columns, sample)

    def _grow_until_best(
        self,
        model: Any,
        sample: Sample,
        columns: NDArray[np.intp],
        validation: Validation,
        is_over: Callable[[], bool],
    ) -> Grown:
        """Add rounds as long as the loss on the validation rows falls."""
        rows, seen = sample.rows[:, columns], validation.sample
        most, best, best_loss, n_rounds = model.max_iter, None, np.inf, 0
        model.set_params(warm_start=True)
        while n_rounds < most:
            n_rounds = min(most, n_rounds + PATIENCE)
            model.set_params(max_iter=n_rounds)
            model.fit(rows, sample.target, sample_weight=sample.weight)
            grown = self._grown(model, columns, sample)
            loss = mean_loss(seen, grown.scores(seen.rows))
            if loss >= best_loss:
                break
            best, best_loss = grown, loss
            if is_over():
                break
        assert best is not None
        return best

    def _model(
        self, sample: Sample, columns: NDArray[np.intp], settings: Settings, seed: int, n_rounds: int
    ) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        is_classifier = sample.kind in ("binary", "multiclass")
        losses = {"regression": "squared_error", "positive": "gamma"}
        model: Any = (
            HistGradientBoostingClassifier()
            if is_classifier
            else HistGradientBoostingRegressor(loss=losses[sample.kind])
        )
        return model.set_params(
            max_iter=n_rounds,
            max_leaf_nodes=settings.n_leaves,
            learning_rate=settings.learning_rate,
            min_samples_leaf=settings.least_rows,
            early_stopping=False,
            categorical_features=sample.columns.is_categorical(columns),
            random_state=seed,
        )

    def _grown(self, model: Any, columns: NDArray[np.intp], sample: Sample) -> Grown:
        forest = Forest.from_model(model)
        complete = on_all_features(forest, columns, sample.columns)
        split = forest.is_split
        assert forest.split_gain is not None
        gains = np.zeros(sample.columns.n_features)
        np.add.at(gains, complete.feature[split], forest.split_gain[split])
        return _GrownByHist(complete, model.n_iter_, gains)

    def gains(self, grown: Grown, n_features: int) -> NDArray[np.float64]:
        return grown.gains if isinstance(grown, _GrownByHist) else np.zeros(n_features)
