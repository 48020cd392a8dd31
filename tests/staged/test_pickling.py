"""Copies of staged models: pickle, joblib and deepcopy give the same answers."""

from __future__ import annotations

import copy
import io
import pickle

import joblib
import numpy as np
import pytest

from budgetprune.staged import BudgetClassifier, BudgetRegressor, StagedPredictor

from ..golden.staged_models import STAGED, staged_answers
from .conftest import COSTS, X_TEST, X_TRAIN, Y_TRAIN, grade

FEW = slice(0, 150)


def by_joblib(thing):
    buffer = io.BytesIO()
    joblib.dump(thing, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


COPIES = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "oldest protocol": lambda thing: pickle.loads(pickle.dumps(thing, protocol=2)),
    "joblib": by_joblib,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.fixture(scope="module", params=["classifier", "regressor"])
def model(request):
    """A model that is fitted quickly."""
    X, y = X_TRAIN[FEW], Y_TRAIN[FEW]
    if request.param == "regressor":
        return BudgetRegressor(COSTS, cv=2, random_state=0).fit(X, y)
    error_costs = {"ill": 60, "unsure": 20, "well": 10}
    return BudgetClassifier(COSTS, error_costs=error_costs, cv=2, random_state=0).fit(X, grade(y))


@pytest.fixture(params=COPIES)
def copied(request):
    return COPIES[request.param]


def assert_same_answers(one: StagedPredictor, other: StagedPredictor) -> None:
    a, b = one.simulate(X_TEST), other.simulate(X_TEST)
    for name in ("label", "cost", "acquired", "decided", "probabilities"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        assert x is None or (x.dtype, x.tobytes()) == (y.dtype, y.tobytes())
    row = X_TEST.iloc[0].to_dict()
    x, y = one.decide(row), other.decide(row)
    assert (x.label, x.cost, x.acquired, x.reason) == (y.label, y.cost, y.acquired, y.reason)
    assert one.step({}).next == other.step({}).next


def test_estimators(model, copied):
    again = copied(model)
    assert type(again) is type(model)
    assert again.get_params().keys() == model.get_params().keys()
    assert np.array_equal(again.predict(X_TEST), model.predict(X_TEST))
    assert np.array_equal(again.acquisition_cost(X_TEST), model.acquisition_cost(X_TEST))
    assert again.stages_ == model.stages_
    if hasattr(model, "predict_proba"):
        assert np.array_equal(again.predict_proba(X_TEST), model.predict_proba(X_TEST))
    assert_same_answers(model.predictor(), again.predictor())
    budget = float(model.tradeoff_.cost[len(model.tradeoff_) // 2])
    assert np.array_equal(
        again.with_budget(budget).predict(X_TEST), model.with_budget(budget).predict(X_TEST)
    )


def test_predictors(model, copied, tmp_path):
    predictor = model.predictor()
    again = copied(predictor)
    assert_same_answers(predictor, again)
    budget = float(model.tradeoff_.cost[len(model.tradeoff_) // 2])
    assert_same_answers(predictor.with_budget(budget), again.with_budget(budget))
    for name, each in (("one", predictor), ("other", again)):
        each.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("name", STAGED)
def test_predictors_that_are_spelled_out(name, copied):
    predictor = STAGED[name]()
    again = copied(predictor)
    assert staged_answers(again) == staged_answers(predictor)
    assert repr(again) == repr(predictor)
    assert (again.max_cost, again.source_names) == (predictor.max_cost, predictor.source_names)


def test_a_pickle_holds_the_trees_once():
    """The engine and the forest of all stages are made of the model again."""
    predictor = STAGED["staged"]()
    again = pickle.loads(pickle.dumps(predictor))
    assert again.forest is again._engine.forest
    assert len(pickle.dumps(predictor)) < 1.1 * len(pickle.dumps(predictor.model)) + 1000


def test_copies_are_independent():
    predictor = STAGED["staged"]()
    again = copy.deepcopy(predictor)
    again.max_cost = 0.0
    assert predictor.max_cost == 18.5
    assert again.model is not predictor.model
    assert again.simulate(np.zeros((1, 5))).cost.tolist() == [0.0]
