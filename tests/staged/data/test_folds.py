"""Folds: how many are enough, and queries that stay together."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import BudgetClassifier
from budgetprune.staged.data import folds as folds_module
from budgetprune.staged.data.folds import enough_folds, even_folds


@pytest.mark.parametrize(("n_rows", "n_folds"), [(10, 5), (20_000, 5), (26_000, 4), (60_000, 2), (10**6, 2)])
def test_folds_that_are_enough(n_rows, n_folds):
    folds = even_folds(np.random.RandomState(0), 5, np.zeros(n_rows, dtype=np.intp), None)
    assert len(enough_folds(folds)) == n_folds


def test_rows_of_no_fold_are_trained_on(monkeypatch):
    """With two of five folds, costs on new rows are those of the curve."""
    monkeypatch.setattr(folds_module, "ENOUGH_ROWS", 600)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_500, 4))
    y = X @ [1.0, 0.8, 0.6, 0.4] + 0.3 * rng.normal(size=len(X)) > 0
    model = BudgetClassifier(learner="lightgbm", random_state=0).fit(X[:1500], y[:1500])
    assert np.isfinite(model.tradeoff_.score).all()
    for cost in model.tradeoff_.cost[:: len(model.tradeoff_) // 5]:
        found = model.with_budget(cost).acquisition_cost(X[1500:]).mean()
        assert found == pytest.approx(cost, rel=0.15, abs=0.1)


def test_queries_stay_together():
    qid = np.random.default_rng(0).integers(0, 30, 400)
    folds = even_folds(np.random.RandomState(0), 5, np.zeros(400, dtype=int), qid)
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(400))
    for train, test in folds:
        assert not set(qid[train]) & set(qid[test])
