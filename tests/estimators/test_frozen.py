"""Models that somebody else trained: they are pruned, and nothing else happens to them."""

from __future__ import annotations

import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from budgetprune import Forest, InvalidInputError, PruningProblem
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor

from .rows import draw, draw_targets, same_trees

# Every model below costs half as much again at least, so that something has to be pruned.
BUDGET = 1.1

X, Y = draw(300)
X_VAL, Y_VAL = draw(150, seed=1)
TARGET, TARGET_VAL = draw_targets(300)[1], draw_targets(150, seed=1)[1]


def lightgbm_booster(objective, target):
    parameters = {"objective": objective, "num_leaves": 6, "verbose": -1, "num_threads": 1}
    return lightgbm.train(parameters, lightgbm.Dataset(X, target), num_boost_round=6)


def xgboost_booster(objective, target):
    parameters = {"objective": objective, "max_depth": 3, "nthread": 1}
    return xgboost.train(parameters, xgboost.DMatrix(X, target), num_boost_round=6)


CLASSIFIERS = {
    "RandomForest": lambda: RandomForestClassifier(6, max_depth=5, random_state=0).fit(X, Y),
    "GradientBoosting": lambda: GradientBoostingClassifier(n_estimators=6, random_state=0).fit(X, Y),
    "LGBMClassifier": lambda: lightgbm.LGBMClassifier(n_estimators=6, verbose=-1).fit(X, Y),
    "LightGBM": lambda: lightgbm_booster("binary", Y),
    "XGBClassifier": lambda: xgboost.XGBClassifier(n_estimators=6, max_depth=3).fit(X, Y),
    "XGBoost": lambda: xgboost_booster("binary:logistic", Y),
}
REGRESSORS = {
    "RandomForest": lambda: RandomForestRegressor(6, max_depth=5, random_state=0).fit(X, TARGET),
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(max_iter=6).fit(X, TARGET),
    "LightGBM": lambda: lightgbm_booster("regression", TARGET),
    "XGBoost": lambda: xgboost_booster("reg:squarederror", TARGET),
}


def refuse_to_fit(*args, **kwargs):
    raise AssertionError("a frozen model is never fitted")


def check_frozen(kind, model, target_val, monkeypatch):
    before = Forest.from_model(model)
    pickled = pickle.dumps(model)
    if hasattr(type(model), "fit"):
        monkeypatch.setattr(type(model), "fit", refuse_to_fit)
    pruner = kind(FrozenEstimator(model), budget=BUDGET, random_state=0)
    pruner = clone(pruner).fit(X_VAL, target_val)
    assert pruner.estimator_ is model
    assert pickle.dumps(model) == pickled
    assert same_trees(Forest.from_model(model), before)
    # The rows given are those that count costs.
    assert pruner.cost_ == pytest.approx(pruner.acquisition_cost(X_VAL).mean())
    assert pruner.cost_ <= BUDGET < pruner.path_.unpruned.cost
    assert same_trees(pruner.path_.forest, before)
    assert pruner.forest_.n_splits < before.n_splits
    return pruner


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_frozen_classifier_is_only_pruned(name, monkeypatch):
    pruner = check_frozen(BudgetPruneClassifier, CLASSIFIERS[name](), Y_VAL, monkeypatch)
    assert pruner.score(X_VAL, Y_VAL) > 0.8
    assert pruner.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("name", REGRESSORS)
def test_frozen_regressor_is_only_pruned(name, monkeypatch):
    pruner = check_frozen(BudgetPruneRegressor, REGRESSORS[name](), TARGET_VAL, monkeypatch)
    assert pruner.score(X_VAL, TARGET_VAL) > 0.4


@pytest.mark.parametrize("error", ["in-bag", "held-out"])
def test_frozen_model_is_the_problem_of_its_forest(error):
    model = CLASSIFIERS["RandomForest"]()
    pruner = BudgetPruneClassifier(FrozenEstimator(model), error=error, loss="brier", refit=None, lam=0.01)
    pruner.fit(X_VAL, Y_VAL)
    problem = PruningProblem(Forest.from_model(model), X_VAL, Y_VAL, error=error, loss="brier")
    assert same_trees(pruner.forest_, problem.path().at(lam=0.01).forest)


def test_leaves_of_a_frozen_model_are_refitted_on_the_rows_given():
    model = CLASSIFIERS["RandomForest"]()
    fixed = {"ridge": 0.1, "budget": 4.0, "random_state": 0, "scoring": "neg_brier_score"}
    plain, refitted = (
        BudgetPruneClassifier(FrozenEstimator(model), refit=kind, **fixed).fit(X_VAL, Y_VAL)
        for kind in (None, "squared")
    )
    assert refitted.score(X_VAL, Y_VAL) > plain.score(X_VAL, Y_VAL)


@pytest.mark.parametrize("error", ["out-of-bag", "pooled"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_a_frozen_model_was_trained_on(error, weighted):
    """With them, errors can be measured where its trees have not been; they still count no costs."""
    weight = np.arange(300) % 3.0 if weighted else None
    model = RandomForestClassifier(6, max_depth=5, random_state=0).fit(X, Y, weight)
    fixed = {"error": error, "loss": "brier", "refit": None, "lam": 0.01}
    pruner = BudgetPruneClassifier(FrozenEstimator(model), **fixed)
    pruner.fit(X, Y, weight, X_val=X_VAL, y_val=Y_VAL)
    problem = PruningProblem(
        Forest.from_model(model),
        *(X_VAL, Y_VAL),
        error=error,
        loss="brier",
        X_train=X,
        y_train=Y,
        sample_weight_train=weight,
    )
    assert same_trees(pruner.forest_, problem.path().at(lam=0.01).forest)
    assert pruner.cost_ == pytest.approx(pruner.acquisition_cost(X_VAL).mean())
    with pytest.raises(InvalidInputError, match=r"write fit\(X_train, y_train, X_val=..., y_val=...\)"):
        BudgetPruneClassifier(FrozenEstimator(model), error=error).fit(X_VAL, Y_VAL)


def test_frozen_model_that_was_never_fitted():
    pruner = BudgetPruneClassifier(FrozenEstimator(RandomForestClassifier()))
    with pytest.raises(InvalidInputError, match="not fitted; call its fit first"):
        pruner.fit(X, Y)
    with pytest.raises(NotFittedError):
        pruner.predict(X)


def test_labels_that_a_frozen_model_does_not_know():
    pruner = BudgetPruneClassifier(FrozenEstimator(CLASSIFIERS["RandomForest"]()))
    with pytest.raises(InvalidInputError, match=r"labels that the forest does not know: 7"):
        pruner.fit(X_VAL, np.where(Y_VAL == 1, 7, 0))
