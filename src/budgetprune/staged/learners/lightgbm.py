"""Learner with LightGBM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.data.sample import LearningSample, Scores
from budgetprune.staged.learners.calibration import RunningLoss
from budgetprune.staged.learners.learner import FEWEST_ROUNDS, PATIENCE, Learner
from budgetprune.staged.learners.task import GrowTask
from budgetprune.staged.learners.trees import GrownTrees, map_to_all_features

# Lower limit of probabilities, so that their logarithms are finite.
_LEAST_SHARE = 1e-15
# A stage starts with half of the scores of the stage before. Its first rounds restore the scale, which does
# not lower the calibrated loss. There are about 3 / learning rate of them; early stopping must ignore these
# rounds, so a large amount is added to their loss.
_RESTORED, _LARGE = 3.0, 1e3
# Number of rows used to make bins. With 200,000 rows, binning would take half of the training time.
_N_ROWS_OF_BINS = 50_000
# A column has few distinct values if its first rows have at most _FEW_VALUES.
_FIRST_ROWS, _FEW_VALUES = 1000, 60


class _GrownByLightGBM(GrownTrees):
    def __init__(self, booster: Any, columns: NDArray[np.intp], sample: LearningSample) -> None:
        self.booster, self._columns, self._about = booster, columns, sample.columns
        self._n_outputs = sample.n_outputs
        self.n_rounds = booster.current_iteration() if booster.best_iteration <= 0 else booster.best_iteration

    def scores(self, rows: NDArray[np.float64]) -> Scores:
        found = self.booster.predict(rows[:, self._columns], raw_score=True, num_threads=1)
        return np.asarray(found, dtype=np.float64).reshape(len(rows), self._n_outputs)

    def forest(self) -> Forest:
        return map_to_all_features(Forest.from_model(self.booster), self._columns, self._about)


class LightGBMLearner(Learner):
    """LightGBM; each stage starts with half of the scores of the stage before."""

    # Measured on design rows of MiniBooNE: for the same curve, stages need 70 rounds each with decay 0.5, and
    # 120 with decay 0 (independent stages). With decay 1, later stages are less accurate.
    name = "lightgbm"
    decay = 0.5

    _OBJECTIVES: ClassVar = {
        "binary": "binary",
        "multiclass": "multiclass",
        "regression": "l2",
        "positive": "gamma",
    }

    def _grow(self, task: GrowTask) -> GrownTrees:
        import lightgbm as lgb

        bins = _bins_with_room(task.sample, task.columns) if task.settings.extra else None
        data = _dataset(task.sample, task.columns, task.start, bins)

        def stop_at_deadline(env: Any) -> None:
            if env.iteration + 1 >= FEWEST_ROUNDS and task.is_over():
                raise lgb.callback.EarlyStopException(env.iteration, env.evaluation_result_list or [])

        callbacks: list[Any] = [stop_at_deadline]
        parameters = self._parameters(task)
        watched: list[Any] = []
        measured = None
        if task.validation is not None and task.n_rounds is None:
            seen = task.validation.sample
            watched = [_dataset(seen, task.columns, task.validation.start, data)]
            callbacks.append(lgb.early_stopping(PATIENCE, verbose=False))
            if seen.kind in ("binary", "multiclass"):
                # Stages are calibrated later, so more rounds may help even if probabilities become
                # overconfident.
                measured, parameters["metric"] = _calibrated_loss(task, seen), "none"
        booster = lgb.train(
            parameters,
            data,
            num_boost_round=task.n_rounds or task.settings.most_rounds,
            valid_sets=watched,
            feval=measured,
            callbacks=callbacks,
        )
        if not booster.num_trees():
            return self._constant(task)
        return _GrownByLightGBM(booster, task.columns, task.sample)

    def _parameters(self, task: GrowTask) -> dict[str, Any]:
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

    def gains(self, grown: GrownTrees, n_features: int) -> NDArray[np.float64]:
        found = np.zeros(n_features)
        if isinstance(grown, _GrownByLightGBM):
            found[grown._columns] = grown.booster.feature_importance("gain")
        return found


def _calibrated_loss(
    task: GrowTask, seen: LearningSample
) -> Callable[[NDArray[np.float64], Any], tuple[str, float, bool]]:
    """Return a metric for LightGBM: the loss after calibration."""
    loss = RunningLoss(seen)
    n_left = 0 if task.start is None else int(_RESTORED / task.settings.learning_rate)

    def measure(shares: NDArray[np.float64], _: Any) -> tuple[str, float, bool]:
        nonlocal n_left
        if seen.kind == "binary":
            shares = np.column_stack([1 - shares, shares])
        found = loss(np.log(np.maximum(shares, _LEAST_SHARE)))
        if n_left:
            n_left -= 1
            found += _LARGE * (1 + n_left)  # decreases each round, so early stopping waits
        return "calibrated loss", found, False

    return measure


_DATA_PARAMETERS = {
    "verbosity": -1,
    "feature_pre_filter": False,
    "bin_construct_sample_cnt": _N_ROWS_OF_BINS,
}


def _dataset(
    sample: LearningSample, columns: NDArray[np.intp], start: Scores | None, reference: Any = None
) -> Any:
    import lightgbm as lgb

    categorical = np.flatnonzero(sample.columns.is_categorical(columns)).tolist()
    return lgb.Dataset(
        sample.rows[:, columns],
        sample.target,
        weight=sample.weight,
        init_score=None if start is None else start.ravel(order="F"),
        categorical_feature=categorical,
        reference=reference,
        params=_DATA_PARAMETERS,
    )


def _bins_with_room(sample: LearningSample, columns: NDArray[np.intp]) -> Any:
    """Make bins with an additional empty one above the largest value; None if all columns have many values.

    LightGBM's random thresholds never separate the last bin from the one before: with the values 1 to 4, it
    cannot split between 3 and 4. With an additional empty bin, all thresholds are possible. Columns with many
    values do not need it.
    """
    import lightgbm as lgb

    # LightGBM makes bins from the same number of rows.
    rows = sample.rows[:_N_ROWS_OF_BINS, columns]
    is_number = ~sample.columns.is_categorical(columns)
    if not any(np.unique(column[:_FIRST_ROWS]).size <= _FEW_VALUES for column in rows.T[is_number]):
        return None
    largest = np.max(rows, axis=0, where=np.isfinite(rows), initial=0.0)
    with np.errstate(over="ignore"):
        above = np.nan_to_num(largest + np.maximum(np.abs(largest), 1.0))
    above[~is_number] = rows[0, ~is_number]
    return lgb.Dataset(
        np.vstack([rows, above]),
        categorical_feature=np.flatnonzero(~is_number).tolist(),
        params=_DATA_PARAMETERS,
    )
