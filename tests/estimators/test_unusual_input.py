"""What users may also try: odd scorers, odd numbers, interrupted fits, jumping paths."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from xgboost import XGBClassifier

from budgetprune import InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier

from .rows import draw, same_trees


def forest():
    return RandomForestClassifier(6, max_depth=5, random_state=0)


@pytest.fixture(scope="module")
def rows():
    return draw(300)


def model_for(budget, rows):
    return BudgetPruneClassifier(forest(), budget=budget, error="in-bag", refit=None, random_state=0).fit(
        *rows
    )


def test_a_measure_that_knows_no_weights_gets_none(rows):
    X, y = rows
    scorer = make_scorer(lambda y_true, y_pred: float(np.mean(y_true == y_pred)))
    model = BudgetPruneClassifier(RandomForestClassifier(5), budget=2, scoring=scorer, random_state=0)
    assert model.fit(X, y, sample_weight=np.linspace(0.5, 1.5, len(y))).choices_.trials


def test_a_score_that_is_not_a_number_is_refused(rows):
    X, y = rows
    scoring = lambda model, X, y: np.nan  # noqa: E731
    with pytest.raises(InvalidInputError, match="gives NaN on one half"):
        BudgetPruneClassifier(RandomForestClassifier(5), budget=2, scoring=scoring, random_state=0).fit(X, y)


@pytest.mark.parametrize("names", [["no", "yes"], [1, 2], [False, True]])
def test_xgboost_is_given_numbers_for_labels(rows, names):
    X, y = rows
    labels = np.array(names)[y]
    model = BudgetPruneClassifier(XGBClassifier(n_estimators=5), budget=3, random_state=0).fit(X, labels)
    assert model.classes_.tolist() == names
    assert model.score(X, labels) > 0.7


def test_a_fit_that_fails_leaves_nothing_that_looks_fitted(rows):
    def interrupted(model, X, y):
        raise KeyboardInterrupt

    X, y = rows
    model = model_for(3.0, rows).set_params(scoring=interrupted, refit="auto")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.set_params(scoring=None).fit(X, y).predict(X).shape == y.shape


def test_a_deep_copy_still_has_its_rows(rows):
    model = BudgetPruneClassifier(forest(), budget=3, error="in-bag", refit="softmax", random_state=0).fit(
        *rows
    )
    same_trees(copy.deepcopy(model).with_budget(2.0).forest_, model.with_budget(2.0).forest_)


@pytest.mark.parametrize("budget", [np.array(3.0), np.float32(3), 3])
def test_numbers_of_any_kind_are_budgets(rows, budget):
    assert model_for(budget, rows).cost_ <= 3


def test_no_limit_is_a_budget_too(rows):
    model = model_for(np.inf, rows)
    assert model.cost_ == model.path_.cost[0]


def test_spare_measures_are_tried_where_others_leave_the_budget_unspent():
    X, y = make_classification(
        5000, n_features=15, n_informative=6, n_redundant=4, flip_y=0.15, random_state=0
    )
    ensemble = RandomForestClassifier(40, random_state=0)
    model = BudgetPruneClassifier(ensemble, budget=8, random_state=0).fit(X[:2000], y[:2000])
    tried = {(trial.error, trial.loss) for trial in model.choices_.trials}
    assert ("pooled", "misclassification") in tried
    assert model.cost_ > 1


def test_with_a_lambda_refits_are_judged_at_its_own_cost(rows):
    model = BudgetPruneClassifier(forest(), lam=0.02, error="in-bag", random_state=0).fit(*rows)
    assert {trial.cost for trial in model.choices_.trials} == {model.path_.at(lam=0.02).cost}
