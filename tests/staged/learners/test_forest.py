"""Stages that are forests: they answer as scikit-learn's do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from budgetprune import BudgetClassifier, BudgetPredictor, BudgetRegressor, InvalidInputError
from budgetprune.staged.data.columns import columns_of
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.forest import N_TREES, ForestLearner, _float64_thresholds, log_odds
from budgetprune.staged.learners.hist import HistLearner
from budgetprune.staged.learners.losses import mean_loss
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.model.links import LEAST_SHARE

from ..conftest import COSTS, X_TRAIN, Y_TRAIN

WINE, CANCER, DIABETES = (load(return_X_y=True) for load in (load_wine, load_breast_cancer, load_diabetes))
LEARNER = ForestLearner(HistLearner())


def sample_of(X, y, kind="multiclass", n_outputs=3, weight=None) -> LearningSample:
    return LearningSample(X, y, weight, columns_of(X, None), kind, n_outputs)


def grow(sample, columns=None, **how):
    columns = np.arange(sample.rows.shape[1]) if columns is None else np.array(columns)
    settings = how.pop("settings", TreeSettings(n_leaves=40, least_rows=2, most_rounds=N_TREES))
    return LEARNER.grow(GrowTask(sample, columns, None, how.pop("n_rounds", 20), settings, **how))


@pytest.mark.parametrize("extra", [True, False])
def test_trees_add_up_to_the_shares_of_scikit_learn(extra):
    X, y = WINE
    grown = grow(sample_of(X, y), [0, 3, 9], settings=TreeSettings(extra=extra, least_rows=2))
    shares = grown.forest().scores(X)
    np.testing.assert_allclose(shares, grown.model.predict_proba(X[:, [0, 3, 9]]), atol=1e-12)
    np.testing.assert_allclose(grown.scores(X), np.log(shares + LEAST_SHARE))
    gains = LEARNER.gains(grown, X.shape[1])
    assert set(np.flatnonzero(gains)) <= {0, 3, 9}


def test_numbers_beyond_32_bits_and_missing_values():
    X, y = WINE[0].copy(), WINE[1]
    X[:50, 0], X[50:80, 1] = 1e300, np.nan
    shares = grow(sample_of(X, y)).forest().scores(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_a_class_that_a_fold_lacks_has_a_share_of_zero():
    X, y = WINE
    kept = y != 1
    shares = grow(sample_of(X[kept], y[kept])).forest().scores(X)
    assert shares.shape == (len(X), 3)
    assert not shares[:, 1].any()


def test_without_columns_all_rows_have_the_shares_of_the_classes():
    X, y = WINE
    constant = grow(sample_of(X, y), [])
    assert constant.forest().link == "identity"
    np.testing.assert_allclose(constant.forest().scores(X[:2])[0], np.bincount(y) / len(y), atol=0.01)
    assert mean_loss(sample_of(X, y), constant.scores(X)) == pytest.approx(1.09, abs=0.02)


def test_two_classes_have_one_score():
    assert log_odds(np.array([[0.25, 0.75], [1.0, 0.0]])).shape == (2, 1)
    assert log_odds(np.array([[0.25, 0.75]]))[0, 0] == pytest.approx(np.log(0.755 / 0.255))


def test_growing_ends_when_the_time_is_over():
    X, y = WINE
    few = grow(sample_of(X, y), n_rounds=100, is_over=lambda: True)
    assert 1 <= few.n_rounds < 100
    assert few.forest().n_trees == few.n_rounds


def test_weights_count():
    X, y = WINE
    weight = np.where(y == 2, 50.0, 1.0)
    rows = X[:, :1]
    plain = grow(sample_of(rows, y)).forest().scores(rows)
    heavy = grow(sample_of(rows, y, weight=weight)).forest().scores(rows)
    assert heavy[:, 2].mean() > plain[:, 2].mean() + 0.1


# --- Estimators ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cancer():
    X, y = CANCER
    X = X[:, :6].copy()
    X[::9, 2] = np.nan
    return BudgetClassifier(learner="forest", cv=3, random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]


def test_probabilities_are_powers_of_shares(cancer):
    model, X, y = cancer
    assert model.learner_ == "forest"
    stage, outputs = model._follow(X)
    chain = model.model_.chain
    for k in np.unique(stage).tolist():
        rows = stage == k
        power = (chain.stages[k].forest.scores(X[rows]) + LEAST_SHARE) ** chain.stages[k].scale
        np.testing.assert_allclose(outputs[rows], power / power.sum(axis=1, keepdims=True))
    assert model.score(X, y) > 0.8


def test_files_and_steps(cancer, tmp_path):
    """A loaded model says the same; one step after the other, it says what it says of whole rows."""
    model, X, _ = cancer
    model.predictor().save(tmp_path / "m")
    loaded = BudgetPredictor.load(tmp_path / "m")
    told = loaded.simulate(X)
    assert np.array_equal(told.probabilities, model.predict_proba(X))
    names = loaded.source_names
    for i in range(5):
        decision = loaded.decide(dict(zip(names, X[i].tolist(), strict=True)))
        np.testing.assert_allclose(decision.probabilities, told.probabilities[i])
        assert decision.cost == told.cost[i]
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_sources_that_cannot_be_had(cancer):
    """Where a tree tests them, both sides count; shares still add up to 1."""
    model, X, _ = cancer
    predictor = model.predictor()
    names = predictor.source_names
    row = dict(zip(names[:3], X[0, :3].tolist(), strict=True))
    decision = predictor.step(row, unavailable=names[3:])
    assert decision.next is None
    assert decision.probabilities.sum() == pytest.approx(1)
    assert (decision.probabilities > 0).all()


def test_regression(tmp_path):
    X, y = DIABETES
    model = BudgetRegressor(learner="forest", cv=3, random_state=0).fit(X[::2, :5], y[::2])
    assert model.learner_ == "forest"
    assert model.score(X[1::2, :5], y[1::2]) > 0.15
    model.predictor().save(tmp_path / "m")
    found = BudgetPredictor.load(tmp_path / "m").simulate(X[:, :5]).label
    assert np.array_equal(found, model.predict(X[:, :5]))


def test_rare_classes():
    X, y = WINE[0][:, :4], WINE[1].copy()
    y[0] = 7
    model = BudgetClassifier(learner="forest", cv=3, random_state=0, time_limit=0.0).fit(X, y)
    assert model.predict_proba(X).shape == (len(X), 4)


def test_categories():
    with pytest.raises(InvalidInputError, match="does not support categories, but column 'town' has some"):
        BudgetClassifier(COSTS, learner="forest").fit(X_TRAIN, Y_TRAIN > 0)


# --- Thresholds ---------------------------------------------------------------------------------------------


def test_thresholds_round_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    value = np.concatenate([rng.normal(size=500), rng.integers(-9, 9, 100) / 4, [0.0, 1e-40, 1e30]])
    exact = _float64_thresholds(value)
    for shift in (-1e-7, -6e-8, -1e-16, 0.0, 1e-16, 6e-8, 1e-7):
        x = value * (1 + shift) + shift * 1e-9
        assert np.array_equal(x <= exact, x.astype(np.float32) <= value)
    assert np.isnan(_float64_thresholds(np.array([np.nan]))).all()
