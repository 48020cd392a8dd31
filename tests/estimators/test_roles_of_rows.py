"""Roles of rows in `fit`: training rows grow trees, validation rows count costs and choose."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetprune.errors import BudgetWarning
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor

from .rows import Recorder, draw, sources_by_walking

PLAIN = {"refit": None, "error": "in-bag", "loss": "misclassification", "random_state": 0}


def small_forest():
    return RandomForestClassifier(5, max_depth=4, random_state=0)


@pytest.mark.parametrize("explicit", [False, True])
def test_only_validation_rows_count_costs(explicit):
    X, y = draw()
    X_val, y_val = draw(120, seed=1)
    extra = {"X_val": X_val, "y_val": y_val} if explicit else {}
    seen = []
    model = BudgetPruneClassifier(small_forest(), budget=2.0, **PLAIN)
    original = RandomForestClassifier.fit

    def fit(self, rows, labels, sample_weight=None):
        seen.append(rows)
        return original(self, rows, labels, sample_weight)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RandomForestClassifier, "fit", fit)
        model.fit(X, y, **extra)
    (train,) = seen
    if explicit:
        assert np.array_equal(train, X)
        val = X_val
    else:
        trained = {tuple(row) for row in train}
        val = np.array([row for row in X if tuple(row) not in trained])
        assert len(val) == 90
        assert len(train) == 210
    cost = sources_by_walking(model.forest_, model._prices, val).sum(axis=1).mean()
    assert model.cost_ == pytest.approx(cost)


@pytest.mark.parametrize("refit", [None, "squared"])
def test_choices_are_judged_by_each_validation_row_once_per_fold_and_by_no_training_row(refit):
    X, y = draw()
    X_val, y_val = draw(80, seed=1)
    scorer = Recorder()
    model = BudgetPruneClassifier(small_forest(), refit=refit, scoring=scorer, random_state=0)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    (one, n_one), (other, n_other) = Counter(tuple(map(tuple, rows)) for rows in scorer.rows).items()
    if refit is None:  # what refits gain along the path is measured on one half
        assert n_one == n_other
    assert sorted(one + other) == sorted(map(tuple, X_val))
    assert len(model.choices_.trials) > 1


def test_copies_of_a_row_do_not_judge_trees_that_have_seen_them():
    """Labels are noise: whoever has seen a copy knows its label, nobody else can."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(150, 4)), 3, axis=0), np.repeat(rng.integers(0, 2, 150), 3)
    model = BudgetPruneClassifier(RandomForestClassifier(10), lam=0.0, **PLAIN).fit(X, y)
    assert model.tradeoff_.score[0] < 0.7
    assert model.score(X, y) > 0.75


def test_queries_are_never_divided():
    X, y = draw(240)
    qid = np.arange(240) % 24
    X[:, 5] = qid
    scorer = Recorder()
    BudgetPruneClassifier(small_forest(), scoring=scorer, **PLAIN).fit(X, y, qid=qid)
    one, other = {tuple(rows[:, 5]) for rows in scorer.rows}
    assert not set(one) & set(other)
    assert set(Counter(one + other).values()) == {10}
    assert len(one + other) == 10 * round(0.3 * 24)


def test_rows_without_weight_are_no_rows():
    X, y = draw()
    weight = np.ones(300)
    weight[::3] = 0
    few = weight > 0
    models = [
        BudgetPruneClassifier(small_forest(), budget=3.0, **PLAIN).fit(*rows)
        for rows in ((X, y, weight), (X[few], y[few], weight[few]))
    ]
    assert np.array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_few_validation_rows_choose_nothing():
    X, y = draw(40)
    with pytest.warns(BudgetWarning, match="12 validation rows are too few to choose settings"):
        model = BudgetPruneClassifier(RandomForestClassifier(4), random_state=0).fit(X, y)
    assert np.isnan(model.tradeoff_.score).all()
    assert model.refit_ is None
    assert model.lambda_ == 0.0


def test_regressors_divide_by_chance_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    model = BudgetPruneRegressor(
        RandomForestRegressor(3), lam=0.0, refit=None, error="in-bag", validation_fraction=0.4
    ).fit(X, y)
    assert len(model.estimator_.estimators_samples_[0]) == 60
