"""The l1 rival: its objective, its prices, and what is free."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from budgetprune import FeatureCosts, InvalidInputError
from budgetprune.baselines import CostWeightedL1


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :10], y


def test_equal_prices_are_an_ordinary_l1_penalty(rows):
    X, y = (part[:200] for part in rows)
    ours = CostWeightedL1(0.05, costs=7.0, tol=1e-10).fit(X, y)
    columns = StandardScaler().fit_transform(X)
    theirs = LogisticRegression(C=0.05, l1_ratio=1.0, solver="saga", tol=1e-7, max_iter=5000)
    theirs.fit(columns, y)
    np.testing.assert_allclose(ours.coef_ * X.std(axis=0), theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(columns), atol=1e-5)


def test_no_other_coefficients_have_a_lower_objective(rows):
    """The definition: logistic loss plus price times absolute coefficient, at columns of deviation 1."""
    X, y = rows
    prices = np.array([1, 2, 5, 0.5, 1, 3, 1, 1, 0.2, 4.0])
    fitted = CostWeightedL1(0.1, costs=prices, tol=1e-9).fit(X, y)
    columns, sign = StandardScaler().fit_transform(X), 2 * y - 1

    def objective(coef, intercept):
        loss = np.logaddexp(0, -sign * (columns @ coef + intercept)).sum()
        return 0.1 * loss + prices / prices.mean() @ np.abs(coef)

    coef = fitted.coef_[0] * X.std(axis=0)
    intercept = fitted.intercept_[0] + fitted.coef_[0] @ X.mean(axis=0)
    least = objective(coef, intercept)
    assert 0 < np.count_nonzero(coef) < 10
    rng = np.random.default_rng(0)
    for _ in range(300):
        step = 10.0 ** rng.uniform(-4, 0) * rng.normal(size=10) * (rng.random(10) < 0.3)
        assert objective(coef + step, intercept) > least - 1e-7
        assert objective(coef, intercept + rng.normal()) > least - 1e-7


def test_dear_features_go_first_and_cost_falls_with_c(rows):
    X, y = rows
    # Two copies of each feature, one of them dearer: it is never worth its price.
    twice = np.hstack([X, X])
    prices = np.repeat([1.0, 3.0], 10)
    costs = []
    for C in (10.0, 0.3, 0.03, 0.003, 1e-5):
        fitted = CostWeightedL1(C, costs=prices).fit(twice, y)
        assert not fitted.coef_[0, 10:].any()
        cost = fitted.acquisition_cost(twice)
        assert cost.shape == (len(X),)
        assert np.all(cost == np.count_nonzero(fitted.coef_))
        costs.append(cost[0])
    assert costs[0] > 5
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == 0


def test_free_features_are_not_penalised(rows):
    X, y = rows
    prices = np.where(np.arange(10) < 3, 0.0, 1e6)
    fitted = CostWeightedL1(1e-4, costs=prices, tol=1e-10).fit(X, y)
    assert not fitted.coef_[0, 3:].any()
    assert np.all(fitted.acquisition_cost(X) == 0)
    columns = StandardScaler().fit_transform(X[:, :3])
    free = LogisticRegression(C=1e10, tol=1e-9, max_iter=1000).fit(columns, y)
    np.testing.assert_allclose(fitted.predict_proba(X), free.predict_proba(columns), atol=1e-3)
    all_free = CostWeightedL1(1e-4, costs=0.0).fit(X, y)
    other = CostWeightedL1(10.0, costs=0.0).fit(X, y)
    np.testing.assert_allclose(all_free.coef_, other.coef_, rtol=1e-3)


def test_shared_sources_are_paid_once_and_penalised_in_full():
    X, y = make_classification(300, n_features=4, n_informative=4, n_redundant=0, random_state=1)
    together = FeatureCosts.from_sources(
        {"a": 2.0, "b": 3.0, "c": 100.0}, {0: "a", 1: ["a", "b"], 2: "b", 3: "c"}
    )
    fitted = CostWeightedL1(1.0, costs=together).fit(X, y)
    assert fitted.coef_[0, :3].all()
    assert fitted.sources_used_.tolist() == [True, True, bool(fitted.coef_[0, 3])]
    assert np.all(fitted.acquisition_cost(X) == 5 + 100 * (fitted.coef_[0, 3] != 0))
    alone = CostWeightedL1(1.0, costs=[2.0, 5.0, 3.0, 100.0]).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_, alone.coef_)


def test_several_classes_one_against_the_rest():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    costs = dict(zip(X.columns, [1, 1, 5, 5], strict=True))
    fitted = CostWeightedL1(10.0, costs=costs, n_jobs=2).fit(X, names)
    assert fitted.coef_.shape == (3, 4)
    assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert fitted.score(X, names) > 0.9
    share = fitted.predict_proba(X)
    np.testing.assert_allclose(share.sum(axis=1), 1)
    assert np.array_equal(fitted.classes_[share.argmax(axis=1)], fitted.predict(X))
    needed = np.any(fitted.coef_ != 0, axis=0)
    assert np.all(fitted.acquisition_cost(X) == [1, 1, 5, 5] @ needed)


def test_missing_values_are_a_clear_error(rows):
    X, y = rows
    table = pd.DataFrame(X.copy(), columns=[f"test {k}" for k in range(10)])
    fitted = CostWeightedL1().fit(table, y)
    table.loc[5, "test 3"] = np.nan
    with pytest.raises(InvalidInputError, match=r"missing values \(NaN\) in column 'test 3'.*SimpleImputer"):
        CostWeightedL1().fit(table, y)
    with pytest.raises(InvalidInputError, match="missing values"):
        fitted.predict(table)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"C": 0}, "C must be above 0"),
        ({"C": "much"}, "C must be a finite number"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"costs": [1.0]}, "costs has 1 entries"),
    ],
)
def test_wrong_settings_are_refused(rows, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        CostWeightedL1(**wrong).fit(*rows)


def test_one_class_is_refused(rows):
    with pytest.raises(InvalidInputError, match="one class only"):
        CostWeightedL1().fit(rows[0], np.zeros(len(rows[1])))


def test_what_is_not_done_is_said(rows):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        CostWeightedL1(max_iter=2).fit(*rows)


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(5))
def test_the_search_does_not_mind_columns_that_are_nearly_the_same(seed):
    """Where columns are nearly copies, it is as good as a slow, sure search; a class may be separable."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(80, 1))
    X = np.hstack([common + 1e-4 * rng.normal(size=(80, 3)), rng.normal(size=(80, 3))])
    y = (common[:, 0] + X[:, 3] + (seed < 3) * rng.normal(size=80)) > 0.3
    prices = rng.choice([0.5, 1.0, 2.0], 6)
    fitted = CostWeightedL1(2.0, costs=prices, tol=1e-9).fit(X, y)
    columns, penalty = StandardScaler().fit_transform(X), prices / prices.mean()
    slope = 2.0 * columns.T @ (fitted.predict_proba(X)[:, 1] - y)
    coef = fitted.coef_[0] * X.std(axis=0)
    # At the minimum, the loss pulls at each coefficient as hard as the penalty, or less if it is 0.
    is_on = coef != 0
    np.testing.assert_allclose(slope[is_on], -penalty[is_on] * np.sign(coef[is_on]), atol=1e-5)
    assert np.all(np.abs(slope[~is_on]) <= penalty[~is_on] + 1e-6)
