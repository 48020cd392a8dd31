"""`BudgetRegressor`: scores and costs within a budget."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score

from budgetprune import BudgetRegressor

from ..conftest import COSTS, X_TEST, X_TRAIN, Y_TEST, Y_TRAIN


def test_regression():
    model = BudgetRegressor(COSTS, random_state=0).fit(X_TRAIN, Y_TRAIN)
    assert model.score(X_TEST, Y_TEST) > 0.7
    cheaper = model.with_budget(4)
    assert 0 < cheaper.acquisition_cost(X_TEST).mean() < 5
    assert cheaper.score(X_TEST, Y_TEST) < model.score(X_TEST, Y_TEST)


def two_sources(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)
    X = np.column_stack([z, z + 2.5 * random.normal(size=n_rows)])
    return X, 3 * z + 0.3 * random.normal(size=n_rows)


@pytest.mark.parametrize("budget", [1.0, 3.0])
def test_a_regressor_buys_the_source_that_fits(budget):
    """Folds that expect other errors before anything is bought must not look like rules for rows."""
    X, y = two_sources(0, 800)
    X_new, y_new = two_sources(1, 2000)
    model = BudgetRegressor([4, 1], budget=budget, random_state=0).fit(X, y)
    assert model.acquisition_cost(X_new).mean() == pytest.approx(1.0)
    assert r2_score(y_new, model.predict(X_new)) > 0.05
