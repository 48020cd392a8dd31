"""Costs of errors: rare classes that are expensive to miss, and a price for each class."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import BudgetClassifier, InvalidInputError


def rare(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, (X @ [1.0, 0.8, 0.5, 0.3] + rng.normal(size=n_rows) > 2.4).astype(int)


def test_rare_classes_that_are_expensive_to_miss():
    """Answers that cost less are wrong more often; the curve must not leave them out."""
    X, y = rare(0, 1500)
    X_new, y_new = rare(1, 5000)
    prices = np.array([[0, 5], [60, 0]])
    model = BudgetClassifier([0.1] * 4, error_costs=prices, random_state=0).fit(X, y)
    total = model.acquisition_cost(X_new).mean() + prices[y_new, model.predict(X_new)].mean()
    constant = min(prices[y_new, answer].mean() for answer in (0, 1))
    assert total < 0.75 * constant
    curve = model.tradeoff_
    assert np.all(np.diff(curve.loss) < 0)
    assert np.all(np.diff((curve.cost + curve.loss)[: curve.cheapest_in_all() + 1]) < 0)


def test_each_class_has_a_price():
    X, y = rare(0, 200)
    with pytest.raises(InvalidInputError, match="no price for class 0; give one for each of"):
        BudgetClassifier(error_costs={1: 60}).fit(X, y)
    with pytest.raises(InvalidInputError, match="has 'a' for 0; prices are numbers"):
        BudgetClassifier(error_costs={0: "a", 1: 2}).fit(X, y)
