"""What a curve says is what new rows get, and one fit serves every budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from budgetprune import BudgetClassifier, BudgetRegressor, InvalidInputError
from budgetprune.errors import BudgetWarning

# One source that knows nearly everything, and six that know little.
COSTS = [15, 1, 1, 1, 1, 1, 1]


def dominated(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)
    y = (z + 0.15 * random.normal(size=n_rows) > 0).astype(int)
    return np.column_stack([z, z[:, np.newaxis] + 2 * random.normal(size=(n_rows, 6))]), y


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


def test_costs_of_a_curve_are_those_of_new_rows_if_features_have_two_values():
    random = np.random.default_rng(0)

    def rows(n_rows):
        X = random.integers(0, 2, (n_rows, 5)).astype(float)
        return X, (X @ [2, 1.5, 1, 1, 0.5] + random.normal(size=n_rows) > 3).astype(int)

    model = BudgetClassifier(random_state=0).fit(*rows(600))
    X, _ = rows(4000)
    for cost in model.tradeoff_.cost:
        assert model.with_budget(cost).acquisition_cost(X).mean() == pytest.approx(cost, abs=0.35)


@pytest.fixture(scope="module")
def without_budget() -> BudgetClassifier:
    return BudgetClassifier(COSTS, random_state=0).fit(*dominated(0, 600))


def test_a_fit_without_a_budget_has_the_source_that_is_best_alone(without_budget):
    X, y = dominated(1, 3000)
    alone = without_budget.with_budget(15)
    assert alone.acquisition_cost(X).mean() == pytest.approx(15, abs=0.5)
    assert alone.score(X, y) > 0.93


@pytest.mark.parametrize("limit", [15, 16])
def test_the_limit_of_a_row_is_used_for_the_best_source_that_fits(limit):
    X, y = dominated(1, 3000)
    model = BudgetClassifier(COSTS, max_cost=limit, random_state=0).fit(*dominated(0, 600))
    assert model.acquisition_cost(X).max() <= limit
    assert model.score(X, y) > 0.93


# --- Rare classes -------------------------------------------------------------------------------------------


def rare(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    odds = np.exp(X @ [1.0, 0.6, 0.0, 0.0] - 4)
    return X, (random.random(n_rows) < odds / (1 + odds)).astype(int)


def test_labels_that_cannot_be_more_accurate_are_judged_by_probabilities():
    X, y = rare(0, 3000)
    with pytest.warns(BudgetWarning, match="log loss of the probabilities"):
        model = BudgetClassifier(budget=2, random_state=0).fit(X, y)
    X_new, y_new = rare(1, 5000)
    assert roc_auc_score(y_new, model.predict_proba(X_new)[:, 1]) > 0.65
    assert 0.5 < model.acquisition_cost(X_new).mean() < 2.2
    assert np.all(np.diff(model.tradeoff_.loss) < 0)
    other = model.predictor()
    assert other.simulate(X_new[:50]).cost.tolist() == model.acquisition_cost(X_new[:50]).tolist()


def test_sources_that_say_nothing_are_not_bought():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(2000, 3)), (random.random(2000) < 0.03).astype(int)
    model = BudgetClassifier(random_state=0, learner="lightgbm").fit(X, y)
    assert model.acquisition_cost(X).max() == 0


# --- Weights and labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_scale_of_weights_does_not_matter(scale):
    X, y = dominated(0, 400)
    weight = scale * np.random.default_rng(0).uniform(0.5, 1.5, 400)
    model = BudgetClassifier(COSTS, budget=15, random_state=0, time_limit=None)
    model.fit(X, y, sample_weight=weight)
    assert model.score(*dominated(1, 1000)) > 0.9


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["a", "b", None] * 20),
        pd.Series(["a", "b", np.nan] * 20, dtype="category"),
        pd.Series([True, False, pd.NA] * 20, dtype="boolean"),
    ],
    ids=["text", "categories", "booleans"],
)
def test_missing_labels_are_named(labels):
    with pytest.raises(InvalidInputError, match="y has no value in 20 of 60 rows, first in row 2"):
        BudgetClassifier().fit(np.zeros((60, 2)), labels)


def test_booleans_of_pandas_stay_booleans():
    X, y = dominated(0, 100)
    model = BudgetClassifier(random_state=0, time_limit=0.0).fit(X, pd.Series(y == 1, dtype="boolean"))
    assert model.predict(X).dtype == np.bool_


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learner": ["hist"]}, "learner must be one of"),
        ({"error_costs": True}, "not a bool"),
        ({"error_costs": np.nan}, "error_costs must be finite"),
        ({"error_costs": np.inf}, "error_costs must be finite"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        BudgetClassifier(**wrong).fit(*dominated(0, 50))


def test_missing_queries_and_repeated_columns():
    X, y = dominated(0, 50)
    with pytest.raises(InvalidInputError, match="qid has missing values"):
        BudgetRegressor().fit(X, y, qid=[np.nan] * 50)
    with pytest.raises(InvalidInputError, match="several columns named 'a'"):
        BudgetClassifier().fit(pd.DataFrame(X[:, :2], columns=["a", "a"]), y)
