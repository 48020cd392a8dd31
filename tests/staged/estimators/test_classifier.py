"""Behaviour of `BudgetClassifier` that users rely on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from budgetprune import BudgetClassifier, BudgetRegressor, InvalidInputError

from ...training import full_training as training_in_full
from ..conftest import COSTS, X_TEST, X_TRAIN, Y_TEST, Y_TRAIN, fitted, grade


def dominated(seed, n_rows):
    """Six cheap columns of some use, and an expensive one that says nearly everything."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n_rows)
    cheap = hidden[:, np.newaxis] + 2 * rng.normal(size=(n_rows, 6))
    return np.column_stack([cheap, hidden + 0.15 * rng.normal(size=n_rows)]), (hidden > 0).astype(int)


@pytest.fixture(scope="module")
def cheap_and_expensive():
    """A model that is trained in full on rows of `dominated`."""
    with training_in_full():
        return BudgetClassifier([1] * 6 + [15], random_state=0).fit(*dominated(0, 1500))


def test_an_expensive_column_that_dominates(cheap_and_expensive):
    X_new, y_new = dominated(1, 6000)
    scores = []
    for budget in (1, 2, 5, 10, 20):
        cheaper = cheap_and_expensive.with_budget(budget)
        assert cheaper.acquisition_cost(X_new).mean() <= 1.25 * budget
        scores.append(cheaper.score(X_new, y_new))
    assert scores[0] > 0.6
    assert np.all(np.diff(scores) > 0.02)


def better(model):
    """What the points of the curve are judged by: more is better."""
    return model.tradeoff_.score if model.error_costs is None else -model.tradeoff_.loss


def test_points_get_better_with_their_cost(model):
    curve = model.tradeoff_
    assert np.all(np.diff(curve.cost) > 0)
    assert np.all(np.diff(better(model)) > 0)
    assert curve.cost[0] == 0
    for i in range(len(curve)):
        budget = float(curve.cost[i])
        assert curve.within(budget) == i
        assert curve.within(budget + 1e-6) == i
    assert len(curve.to_frame()) == len(curve)


def test_cross_fitting_is_honest(cheap_and_expensive):
    """Costs and scores of new rows are about those of the curve."""
    X_new, y_new = dominated(3, 6000)
    curve = cheap_and_expensive.tradeoff_
    for i in range(0, len(curve), 5):
        at = cheap_and_expensive.with_budget(float(curve.cost[i]))
        assert at.acquisition_cost(X_new).mean() == pytest.approx(curve.cost[i], rel=0.2, abs=0.2)
        assert at.score(X_new, y_new) == pytest.approx(curve.score[i], abs=0.05)


def test_stages_add_up(model):
    stages = model.stages_
    assert stages[0].sources == ()
    assert stages[0].reached == pytest.approx(1)
    assert sum(stage.stops for stage in stages) == pytest.approx(1)
    bought = [source for stage in stages for source in stage.sources]
    assert len(bought) == len(set(bought))
    assert sum(stage.stops * stage.cost for stage in stages) == pytest.approx(
        model.tradeoff_.cost[model.model_.point], rel=0.1, abs=0.3
    )


def test_the_score_of_a_stage_is_that_of_all_rows(model):
    """The curve has a point that is at least as good as each stage, and costs no more."""
    curve = model.tradeoff_
    for chain, score in zip(model.model_.chains, curve.stage_score, strict=True):
        assert score.size == len(chain)
        paid = np.cumsum([model.model_.costs.price[list(stage.sources)].sum() for stage in chain.stages])
        for cost, own in zip(paid, score, strict=True):
            if model.error_costs is None:
                assert curve.score[curve.cost <= cost * (1 + 1e-9)].max() >= own - 1e-12
    own = [stage.score for stage in model.stages_]
    assert own == curve.stage_score[curve.chain[model.model_.point]][: len(own)].tolist()


def test_probabilities_are_calibrated_where_rows_stop():
    X, y = dominated(4, 2000)
    X_new, y_new = dominated(5, 8000)
    model = BudgetClassifier([1] * 6 + [15], budget=8, random_state=0).fit(X, y)
    stage, outputs = model._follow(X_new)
    for k in np.unique(stage):
        rows = stage == k
        if rows.sum() > 500:
            assert outputs[rows, 1].mean() == pytest.approx(y_new[rows].mean(), abs=0.06)


def test_one_source_is_the_plain_learner():
    """With a single source there is one stage to buy: all rows have it, or none."""
    X, y = load_breast_cancer(return_X_y=True)
    model = BudgetClassifier(costs=dict.fromkeys(range(30), 0), random_state=0).fit(X[::2], y[::2])
    assert len(model.stages_) == 1
    assert model.acquisition_cost(X).max() == 0
    assert model.score(X[1::2], y[1::2]) > 0.93


def test_error_costs_decide_what_is_bought():
    cheap = BudgetClassifier(COSTS, error_costs=5, random_state=0).fit(X_TRAIN, Y_TRAIN > 0)
    grave = BudgetClassifier(COSTS, error_costs=500, random_state=0).fit(X_TRAIN, Y_TRAIN > 0)
    assert cheap.acquisition_cost(X_TEST).mean() < grave.acquisition_cost(X_TEST).mean()
    assert cheap.score(X_TEST, Y_TEST > 0) < grave.score(X_TEST, Y_TEST > 0)
    both = BudgetClassifier(COSTS, error_costs=500, budget=3, random_state=0).fit(X_TRAIN, Y_TRAIN > 0)
    assert both.tradeoff_.cost[both.model_.point] <= 3


def test_grave_errors_are_avoided(classifier):
    careful = BudgetClassifier(COSTS, error_costs={(True, False): 90, (False, True): 10}, random_state=0)
    careful.fit(X_TRAIN, Y_TRAIN > 0)
    assert careful.predict(X_TEST).mean() > classifier.predict(X_TEST).mean() + 0.05


@pytest.mark.parametrize("limit", [2.0, 8.0])
def test_a_cap_holds_for_each_row(limit):
    model = BudgetClassifier(COSTS, max_cost=limit, random_state=0).fit(X_TRAIN, Y_TRAIN > 0)
    assert model.acquisition_cost(X_TEST).max() <= limit
    assert model.predictor().max_cost == limit


def test_scores_of_probabilities():
    model = fitted("probabilities")
    found = -log_loss(Y_TEST > 0, model.predict_proba(X_TEST))
    assert model.tradeoff_.score[-1] == pytest.approx(found, abs=0.1)


def test_the_same_seed_gives_the_same_model(classifier):
    one = classifier
    two, other = (BudgetClassifier(COSTS, random_state=seed).fit(X_TRAIN, Y_TRAIN > 0) for seed in (0, 1))
    assert np.array_equal(one.predict_proba(X_TEST), two.predict_proba(X_TEST))
    assert np.array_equal(one.tradeoff_.cost, two.tradeoff_.cost)
    assert not np.array_equal(one.tradeoff_.cost, other.tradeoff_.cost)


def test_number_of_jobs_changes_nothing():
    one, two = (
        BudgetClassifier(COSTS, n_jobs=n_jobs, random_state=0).fit(X_TRAIN, Y_TRAIN > 0) for n_jobs in (1, 2)
    )
    assert np.array_equal(one.predict_proba(X_TEST), two.predict_proba(X_TEST))


def test_tables_arrays_and_sparse_matrices():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :8].round(2)
    costs = dict.fromkeys(X.columns, 1.0)
    polars = pytest.importorskip("polars")
    frame = BudgetClassifier(costs, random_state=0).fit(X[::2], y[::2])
    tables = polars.from_pandas(X.reset_index(drop=True))
    other = BudgetClassifier(costs, random_state=0).fit(tables[::2], y[::2])
    plain = BudgetClassifier(1.0, random_state=0).fit(X.to_numpy()[::2], y[::2])
    sparse = BudgetClassifier(1.0, random_state=0).fit(sp.csr_array(X.to_numpy()[::2]), y[::2])
    expected = frame.predict_proba(X[1::2])
    assert np.array_equal(other.predict_proba(tables[1::2]), expected)
    assert np.array_equal(plain.predict_proba(X.to_numpy()[1::2]), expected)
    assert np.array_equal(sparse.predict_proba(sp.csr_array(X.to_numpy()[1::2])), expected)


def test_weights_and_class_weights(classifier):
    weight = np.where(Y_TRAIN > 0, 10.0, 1.0)
    weighted = BudgetClassifier(COSTS, random_state=0).fit(X_TRAIN, Y_TRAIN > 0, weight)
    by_class = BudgetClassifier(COSTS, class_weight={True: 10, False: 1}, random_state=0)
    by_class.fit(X_TRAIN, Y_TRAIN > 0)
    assert np.array_equal(weighted.predict_proba(X_TEST), by_class.predict_proba(X_TEST))
    assert weighted.predict(X_TEST).mean() > classifier.predict(X_TEST).mean()


def test_no_time_at_all_gives_a_model():
    model = BudgetClassifier(COSTS, time_limit=0.0, random_state=0).fit(X_TRAIN, Y_TRAIN > 0)
    assert model.score(X_TEST, Y_TEST > 0) > 0.6


def test_rare_classes_and_few_rows():
    labels = grade(Y_TRAIN[:40])
    labels[0] = "once"
    model = BudgetClassifier(COSTS, random_state=0).fit(X_TRAIN[:40], labels)
    assert set(model.predict(X_TEST)) <= set(model.classes_)
    assert model.predict_proba(X_TEST).shape == (len(X_TEST), 4)


def test_nothing_can_be_learnt():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    model = BudgetClassifier(random_state=0).fit(X, y)
    assert model.with_budget(0).acquisition_cost(X).max() == 0
    assert np.isfinite(model.predict_proba(X)).all()
    flat = BudgetRegressor(random_state=0).fit(X, np.ones(200))
    assert flat.predict(X) == pytest.approx(1)
    assert flat.acquisition_cost(X).max() == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"budget": -1}, "budget must be a finite number"),
        ({"budget": "3"}, "budget must be a number"),
        ({"max_cost": np.nan}, "max_cost must be a finite number"),
        ({"time_limit": -2}, "time_limit must be"),
        ({"learner": "xgboost"}, "learner must be one of"),
        ({"cv": 1}, "cv must be"),
        ({"error_costs": {"fish": 1}}, "the classes are"),
        ({"error_costs": [[0, 1]]}, "a row and a column for each"),
        ({"error_costs": [[1, 1], [1, 0]]}, "0 for right answers"),
        ({"error_costs": -1}, "not negative"),
        ({"error_costs": 0}, "all 0"),
        ({"error_costs": "much"}, "must be a number, a matrix"),
    ],
)
def test_parameters_are_checked(parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        BudgetClassifier(COSTS, **parameters).fit(X_TRAIN, Y_TRAIN > 0)


def test_clones_and_text():
    model = BudgetClassifier(COSTS, budget=3.0, random_state=0)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(InvalidInputError, match="must hold numbers"):
        BudgetRegressor(COSTS).fit(X_TRAIN, grade(Y_TRAIN))
    with pytest.raises(InvalidInputError, match="holds text, but also 1"):
        BudgetClassifier().fit(pd.DataFrame({"a": ["x", 1] * 20}), [0, 1] * 20)
