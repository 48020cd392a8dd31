"""Documents of queries: scores are those of rankings."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import BudgetClassifier, BudgetRegressor, InvalidInputError
from budgetprune.ranking import ap_scorer, ndcg_at


def documents(seed, n_queries=60, n_each=12):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), n_each)
    quality = rng.normal(size=qid.size)
    X = quality[:, np.newaxis] + rng.normal(size=(qid.size, 4)) * np.array([0.3, 1.0, 1.5, 5.0])
    return X, np.clip(np.round(quality + 0.3), 0, 2), qid


COSTS = [8, 2, 1, 1]


def test_regressors_are_scored_by_ndcg():
    X, y, qid = documents(0)
    model = BudgetRegressor(COSTS, random_state=0).fit(X, y, qid=qid)
    X_new, y_new, new = documents(1)
    for budget in (2, 20):
        at = model.with_budget(budget)
        found = ndcg_at(y_new, at.predict(X_new), new, k=10)
        assert found == pytest.approx(at.tradeoff_.score[at.model_.point], abs=0.08)
    assert model.tradeoff_.score[-1] > model.tradeoff_.score[0] + 0.1


def test_classifiers_take_scorers_of_rankings():
    X, y, qid = documents(2)
    model = BudgetClassifier(COSTS, scoring=ap_scorer(5), random_state=0).fit(X, (y > 0).astype(int), qid=qid)
    assert model.tradeoff_.score[-1] > 0.7


def test_one_query_is_not_enough():
    X, y, _ = documents(3, n_queries=3)
    with pytest.raises(InvalidInputError, match="two queries"):
        BudgetRegressor(COSTS).fit(X, y, qid=np.zeros(len(y)))
