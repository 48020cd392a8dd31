"""Prediction intervals: quantiles of residuals, coverage on new rows, and files."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor

from budgetprune import (
    BudgetClassifier,
    BudgetPredictor,
    BudgetPruneRegressor,
    BudgetRegressor,
    InvalidInputError,
)
from budgetprune.predictor import Residuals

from ..golden.write import FOLDER, with_residuals
from ..persistence.parts import Parts, assemble


def draw(n_rows, seed):
    """Targets whose noise depends on a feature, with heavy tails."""
    X, y = make_friedman1(n_rows, n_features=6, noise=0, random_state=seed)
    noise = np.random.default_rng(seed).standard_t(4, size=n_rows)
    return X, y + (0.3 + 2 * X[:, 3]) * noise


X, Y = draw(600, 0)
X_NEW, Y_NEW = draw(3000, 1)


@pytest.fixture(scope="module")
def staged():
    return BudgetRegressor(cv=2, n_jobs=1, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def pruned():
    forest = RandomForestRegressor(12, random_state=0)
    return BudgetPruneRegressor(forest, budget=4, random_state=0).fit(X, Y)


# --- Quantiles ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [1, 9, 30, 199, 200, 201, 1000])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.95])
def test_quantiles_are_conformal(n_rows, level):
    """The residual with rank ceil(level (n + 1)), or the next one that is kept."""
    sizes = np.random.default_rng(n_rows).exponential(size=n_rows)
    residuals, rank = Residuals.of(-sizes[np.newaxis]), math.ceil(round(level * (n_rows + 1), 9))
    if rank > n_rows:
        with pytest.raises(InvalidInputError, match=rf"at least {math.ceil(round(level / (1 - level), 9))} "):
            residuals.quantile(level)
        return
    found = int(np.searchsorted(np.sort(sizes), residuals.quantile(level))) + 1
    assert rank <= found <= rank + n_rows / 200
    if n_rows <= 200:
        assert found == rank


@pytest.mark.parametrize("level", [0, 1, -0.1, 90, "all", None, True, float("nan")])
def test_invalid_levels(level, pruned):
    with pytest.raises(InvalidInputError, match="the level of an interval must be above 0 and below 1"):
        pruned.predict_interval(X_NEW[:5], level)


# --- Coverage -----------------------------------------------------------------------------------------------


def check_coverage(intervals, level):
    """Within two standard errors of a quantile of 180 rows; models of half of the rows may be worse."""
    covered = np.mean((intervals[:, 0] <= Y_NEW) & (intervals[:, 1] >= Y_NEW))
    assert level - 0.075 <= covered <= level + 0.15


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_coverage_of_staged_models(staged, level):
    for budget in (1.5, 3.0, None):
        model = staged.with_budget(budget)
        intervals = model.predict_interval(X_NEW, level)
        check_coverage(intervals, level)
        assert np.allclose(intervals.mean(axis=1), model.predict(X_NEW))
    assert np.unique(np.ptp(intervals, axis=1).round(6)).size > 1  # wider where errors are larger


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_coverage_of_pruned_models(pruned, level):
    intervals = pruned.predict_interval(X_NEW, level)
    check_coverage(intervals, level)
    assert np.allclose(intervals.mean(axis=1), pruned.predict(X_NEW))
    early = BudgetPruneRegressor(
        RandomForestRegressor(8, random_state=0), budget=3, counting="decided", tolerance=1, random_state=0
    ).fit(X, Y)
    check_coverage(early.predict_interval(X_NEW, level), level)


def test_residuals_are_those_of_rows_that_the_model_did_not_see(pruned):
    """A forest that knows its training rows has residuals like those on new rows."""
    known = np.abs(Y - pruned.estimator_.predict(X))
    assert np.quantile(known, 0.9) < 0.8 * pruned._residuals.quantile(0.9)


# --- Files --------------------------------------------------------------------------------------------------


def test_files_keep_intervals(staged, pruned, tmp_path):
    for predictor in (staged.with_budget(2.0).predictor(), pruned.predictor()):
        predictor.save(tmp_path / "m")
        loaded = BudgetPredictor.load(tmp_path / "m")
        assert np.array_equal(loaded.predict_interval(X_NEW), predictor.predict_interval(X_NEW))
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_the_golden_file(tmp_path):
    golden = FOLDER / "residuals-5.budgetprune"
    with_residuals().save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == golden.read_bytes()
    loaded = BudgetPredictor.load(golden)
    rows = np.zeros((2, loaded.forest.n_features))
    half = np.ptp(loaded.predict_interval(rows, 0.5), axis=1) / 2
    assert half == pytest.approx([1.25, 1.25])  # rank 5 of 9; kept are the ranks 3, 5, 7 and 9


@pytest.mark.parametrize(
    "change",
    [
        lambda parts, k: parts.header.update(residuals={"n_rows": 3}),
        lambda parts, k: parts.header.update(residuals={"n_rows": 9.5}),
        lambda parts, k: parts.header.update(residuals=[9]),
        lambda parts, k: parts.header.pop("residuals"),
        lambda parts, k: parts.arrays.__setitem__(k, -parts.arrays[k]),
        lambda parts, k: parts.arrays.__setitem__(k, parts.arrays[k][:, ::-1].copy()),
        lambda parts, k: parts.arrays.__setitem__(k, parts.arrays[k] + np.inf),
        lambda parts, k: parts.arrays.__setitem__(k, parts.arrays[k][:, :0].copy()),
    ],
)
def test_damaged_residuals(change, tmp_path):
    parts = Parts((FOLDER / "residuals-5.budgetprune").read_bytes())
    change(parts, parts.index("residuals.size"))
    parts.describe()
    (tmp_path / "bad").write_bytes(assemble(parts.text().encode(), parts.body(), parts.version))
    with pytest.raises(InvalidInputError, match="cannot be loaded"):
        BudgetPredictor.load(tmp_path / "bad")


# --- No records ---------------------------------------------------------------------------------------------


def test_models_without_records(pruned, staged):
    other = pruned.with_budget(3.2)
    with pytest.raises(InvalidInputError, match=r"no residuals.* Fit or prune it again"):
        other.predict_interval(X_NEW)
    plain = BudgetPredictor(pruned.forest_)
    with pytest.raises(InvalidInputError, match=r"no residuals.* Fit or prune it again"):
        plain.predict_interval(X_NEW)
    labels = BudgetClassifier(time_limit=0.5, cv=2, random_state=0).fit(X[:200], Y[:200] > 14)
    with pytest.raises(InvalidInputError, match="intervals are for regression"):
        labels.predictor().predict_interval(X_NEW)
    ranked = BudgetPruneRegressor(RandomForestRegressor(4, random_state=0), budget=4, random_state=0)
    ranked.fit(X, np.round(Y.clip(0) / 10), qid=np.arange(600) // 20)
    with pytest.raises(InvalidInputError, match="without queries"):
        ranked.predict_interval(X_NEW)
    assert staged.model_.only(np.array([staged.model_.point])).residuals.size.shape[0] == 1
