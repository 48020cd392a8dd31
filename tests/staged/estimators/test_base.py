"""Inputs that are unusual but right, and inputs that are refused before anything is trained."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from budgetprune import BudgetClassifier, BudgetRegressor, FeatureCosts, InvalidInputError
from budgetprune.errors import BudgetWarning
from budgetprune.ranking import ap_scorer
from budgetprune.staged.curve import consistency as recheck_module
from budgetprune.staged.estimators import base as base_module

from ..model.test_error_costs import rare
from .test_budgets import COSTS, dominated

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4))
Y = X @ [1.0, 0.7, 0.5, 0.0] + 0.5 * RNG.normal(size=900) > 0


def test_the_order_of_the_rows_does_not_matter(monkeypatch):
    """Where some rows are enough, those of one class must not be taken."""
    monkeypatch.setattr(recheck_module, "MOST_ROWS", 200)
    order = np.argsort(Y, kind="stable")
    models = [
        BudgetClassifier(learner="lightgbm", cv=3, random_state=0).fit(X[rows], Y[rows])
        for rows in (np.arange(900), order)
    ]
    shuffled, ordered = (model.tradeoff_ for model in models)
    assert len(ordered) > 0.5 * len(shuffled)
    assert ordered.score[-1] == pytest.approx(shuffled.score[-1], abs=0.05)


def test_a_shared_source_is_bought_by_what_fits():
    """The draw is shared with A, which is too expensive; B buys it then."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 3))
    y = rows @ [1.0, 2.5, 2.0] + 0.3 * rng.normal(size=600) > 0
    costs = FeatureCosts.from_sources(
        prices={"C": 0.5, "draw": 1.0, "A": 4.0, "B": 3.0}, needs={0: "C", 1: ["draw", "A"], 2: ["draw", "B"]}
    )
    model = BudgetClassifier(costs, max_cost=4.5, learner="lightgbm", cv=3, random_state=0).fit(rows, y)
    bought = {source for stage in model.stages_ for source in stage.sources}
    assert bought == {"C", "draw", "B"}
    assert all(stage.sources for stage in model.stages_[1:])
    assert model.acquisition_cost(rows).max() <= 4.5


@pytest.mark.parametrize("learner", ["hist", "lightgbm", "forest"])
def test_a_class_that_some_folds_lack(learner):
    odd = np.where(Y, "a", "b").astype(object)
    odd[0] = "c"
    model = BudgetClassifier(learner=learner, time_limit=1.0, cv=3, random_state=0).fit(X, odd)
    assert model.tradeoff_.score[-1] > 0.8
    assert model.predict_proba(X).shape == (900, 3)


def test_measures_of_probabilities_take_folds_without_a_rare_class():
    odd = np.where(Y, "a", "b").astype(object)
    odd[:2] = "c"
    model = BudgetClassifier(scoring="neg_log_loss", time_limit=0.0, cv=3, random_state=0).fit(X, odd)
    assert np.isfinite(model.tradeoff_.score).all()


def test_scoring_counts_weights():
    """Half of the labels are random, but hardly count."""
    rng = np.random.default_rng(1)
    is_noise = np.arange(900) % 2 == 0
    y = np.where(is_noise, rng.random(900) < 0.5, X[:, 0] > 0)
    weight = np.where(is_noise, 1e-3, 1.0)
    model = BudgetClassifier(scoring="accuracy", learner="lightgbm", time_limit=1.0, random_state=0)
    assert model.fit(X, y, weight).tradeoff_.score[-1] > 0.95


def test_folds_without_weight_are_left_out():
    weight = (np.arange(900) < 600) * 1.0
    model = BudgetClassifier(cv=list(KFold(3).split(X)), learner="lightgbm", time_limit=0.0, random_state=0)
    assert model.fit(X, Y, weight).tradeoff_.score[-1] > 0.7
    with pytest.raises(InvalidInputError, match="at least two folds"):
        model.set_params(cv=list(KFold(2).split(X))).fit(X, Y, (np.arange(900) < 450) * 1.0)


LABELS = np.where(Y, "yes", "no")


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (BudgetClassifier(scoring="f1"), LABELS, "scoring='f1' cannot score"),
        (BudgetClassifier(scoring="r2"), LABELS, "scoring='r2' cannot score"),
        (BudgetClassifier(scoring="roc_auc"), np.arange(900) % 3, "scoring='roc_auc' cannot score"),
        (BudgetClassifier(scoring=ap_scorer()), Y, "qid"),
        (BudgetRegressor(scoring="neg_mean_squared_log_error"), X[:, 0] - 9, "cannot score"),
        (BudgetClassifier(budget=True), Y, "budget must be a number"),
        (BudgetClassifier(class_weight={False: -1.0, True: 1.0}), Y, "class_weight must have"),
        (BudgetRegressor(error_costs=True), X[:, 0], "error_costs must be a positive number"),
    ],
)
def test_what_is_refused_before_training(monkeypatch, model, y, words):
    monkeypatch.setattr(base_module, "fit_staged_model", lambda spec: pytest.fail("training has begun"))
    with pytest.raises(InvalidInputError, match=words):
        model.fit(X, y)


@pytest.mark.parametrize("number", [np.int64(3), np.float32(3)])
def test_numbers_of_numpy(number):
    model = BudgetRegressor(error_costs=number, cv=np.int64(3), time_limit=0.0, random_state=0)
    assert model.fit(X[:200], X[:200, 0]).tradeoff_.score[-1] > 0


def test_without_any_source_the_answer_is_close_to_the_base_rate():
    """Scores of trees that lack all features are uncertain; probabilities are averaged over that."""
    y = X @ [1.0, 0.7, 0.5, 0.0] > 1.0
    predictor = BudgetClassifier(learner="lightgbm", random_state=0).fit(X, y).predictor()
    found = predictor.step({}, unavailable=list(predictor.source_names)).probabilities
    assert found[1] == pytest.approx(y.mean(), abs=0.08)


def test_ordinary_scores_of_rows_with_queries():
    X, y = rare(0, 300)
    qid = np.repeat(np.arange(30), 10)
    for model, target in ((BudgetClassifier(scoring="roc_auc"), y), (BudgetRegressor(scoring="r2"), X[:, 0])):
        fitted = model.set_params(time_limit=0.0, random_state=0).fit(X, target, qid=qid)
        assert np.isfinite(fitted.tradeoff_.score).all()


def test_text_that_is_no_category_is_refused_with_advice():
    table = {"age": [1.0, 2.0] * 5, "town": ["1.5", "2.5"] * 5}
    for kind in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(InvalidInputError, match=r"'town' of X seems to hold numbers as text.*to_numeric"):
            BudgetClassifier().fit(kind(table), [0, 1] * 5)


def test_an_interrupted_fit_leaves_no_model(monkeypatch):
    X, y = rare(0, 300)
    model = BudgetClassifier(time_limit=0.0, random_state=0).fit(X, y)

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(base_module, "fit_staged_model", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_model_that_can_buy_nothing_is_told():
    X, y = rare(0, 300)
    with pytest.warns(BudgetWarning, match="the cheapest feature costs 2, more than"):
        BudgetClassifier([2, 3, 4, 5], budget=1, time_limit=0.0, random_state=0).fit(X, y)


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
