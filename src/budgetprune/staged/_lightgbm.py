"""Stages that LightGBM grows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged._grown import Constant, on_all_features
from budgetprune.staged._learner import PATIENCE, Learner, Task
from budgetprune.staged._sample import Grown, Sample, Scores

_FEWEST_ROUNDS = 5


class _GrownByLightGBM(Grown):
    def __init__(self, booster: Any, columns: NDArray[np.intp], sample: Sample) -> None:
        self.booster, self._columns, self._about = booster, columns, sample.columns
        self._n_outputs = sample.n_outputs
        self.n_rounds = booster.current_iteration() if booster.best_iteration <= 0 else booster.best_iteration

    def scores(self, rows: NDArray[np.float64]) -> Scores:
        found = self.booster.predict(rows[:, self._columns], raw_score=True, num_threads=1)
        return np.asarray(found, dtype=np.float64).reshape(len(rows), self._n_outputs)

    def forest(self) -> Forest:
        return on_all_features(Forest.from_model(self.booster), self._columns, self._about)


class LightGBMLearner(Learner):
    """LightGBM, each stage started with half of the scores of the stage before."""

    # Measured on design rows of MiniBooNE: independent stages (0) need 120 rounds each for the same curve for
    # which 0.5 needs 70; with 1, later stages are less accurate.
    decay = 0.5

    _OBJECTIVES: ClassVar = {
        "binary": "binary",
        "multiclass": "multiclass",
        "regression": "l2",
        "positive": "gamma",
    }

    def _grow(self, task: Task) -> Grown:
        import lightgbm as lgb

        data = _dataset(task.sample, task.columns, task.start)

        def end_in_time(env: Any) -> None:
            if env.iteration + 1 >= _FEWEST_ROUNDS and task.is_over():
                raise lgb.callback.EarlyStopException(env.iteration, env.evaluation_result_list or [])

        callbacks: list[Any] = [end_in_time]
        watched: list[Any] = []
        if task.validation is not None and task.n_rounds is None:
            watched = [_dataset(task.validation.sample, task.columns, task.validation.start, data)]
            callbacks.append(lgb.early_stopping(PATIENCE, verbose=False))
        booster = lgb.train(
            self._parameters(task),
            data,
            num_boost_round=task.n_rounds or task.settings.most_rounds,
            valid_sets=watched,
            callbacks=callbacks,
        )
        if not booster.num_trees():
            return Constant(task.sample, task.start)
        return _GrownByLightGBM(booster, task.columns, task.sample)

    def _parameters(self, task: Task) -> dict[str, Any]:
        sample, settings = task.sample, task.settings
        found: dict[str, Any] = {
            "objective": self._OBJECTIVES[sample.kind],
            "boost_from_average": task.start is None,
            "num_leaves": settings.n_leaves,
            "extra_trees": settings.extra,
            "learning_rate": settings.learning_rate,
            "min_data_in_leaf": settings.least_rows,
            "min_sum_hessian_in_leaf": 1e-3 if sample.n_outputs == 1 else 1e-1,
            "seed": task.seed,
            "num_threads": task.n_threads,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
        }
        if sample.kind == "multiclass":
            found["num_class"] = sample.n_outputs
        return found

    def gains(self, grown: Grown, n_features: int) -> NDArray[np.float64]:
        found = np.zeros(n_features)
        if isinstance(grown, _GrownByLightGBM):
            found[grown._columns] = grown.booster.feature_importance("gain")
        return found


def _dataset(sample: Sample, columns: NDArray[np.intp], start: Scores | None, reference: Any = None) -> Any:
    import lightgbm as lgb

    categorical = np.flatnonzero(sample.columns.is_categorical(columns)).tolist()
    return lgb.Dataset(
        sample.rows[:, columns],
        sample.target,
        weight=sample.weight,
        init_score=None if start is None else start.ravel(order="F"),
        categorical_feature=categorical,
        reference=reference,
        params={"verbosity": -1, "feature_pre_filter": False},
    )
