"""What cannot work is refused with advice, before any tree is grown."""

from __future__ import annotations

import re

import lightgbm
import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from budgetprune import FeatureCosts, InvalidInputError, UnsupportedModelError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.ranking import ap_scorer

from .rows import draw, draw_targets

X, Y = draw(200)
THREE = draw(200, n_classes=3)[1]
TARGET = draw_targets(200)[1]


class GrownError(AssertionError):
    """A tree was grown where an error was due."""


@pytest.fixture(autouse=True)
def no_tree_may_grow(monkeypatch):
    def fit(*args, **kwargs):
        raise GrownError

    for kind in (RandomForestClassifier, RandomForestRegressor, GradientBoostingClassifier):
        monkeypatch.setattr(kind, "fit", fit)


def test_without_an_error_trees_grow():
    with pytest.raises(GrownError):
        BudgetPruneClassifier().fit(X, Y)


EARLY = {"counting": "decided"}
BOTH = {
    "budget and lam": ({"budget": 1.0, "lam": 0.1}, "give a budget or a lam, not both"),
    "negative budget": ({"budget": -1.0}, "budget must be a finite number of at least 0, not -1.0"),
    "NaN budget": ({"budget": np.nan}, "budget must be a finite number"),
    "budget of text": ({"budget": "much"}, "budget must be a finite number of at least 0, not 'much'"),
    "negative lam": ({"lam": -0.1}, "lam must be a finite number of at least 0"),
    "infinite lam": ({"lam": np.inf}, "lam must be a finite number"),
    "error": ({"error": "oob"}, "error='oob' is unknown; use 'auto', 'in-bag', 'out-of-bag', 'held-out'"),
    "loss": ({"loss": "entropy"}, "loss='entropy' is unknown; use None, "),
    "refit": ({"refit": True}, "refit=True is unknown; use 'auto', None, 'squared'"),
    "array for a word": ({"refit": np.zeros(2)}, "is unknown; use 'auto', None, 'squared'"),
    "ridge": ({"ridge": -2.0}, "ridge must be a finite number of at least 0, not -2.0"),
    "ridge of text": ({"ridge": "much"}, "ridge must be a finite number of at least 0, not 'much'"),
    "fraction 0": (
        {"validation_fraction": 0.0},
        "validation_fraction must be a number between 0 and 1, not 0",
    ),
    "fraction 1": ({"validation_fraction": 1}, "validation_fraction must be a number between 0 and 1, not 1"),
    "fraction of text": (
        {"validation_fraction": "3"},
        "validation_fraction must be a number between 0 and 1",
    ),
    "solver": ({"solver": "simplex"}, "solver='simplex' is unknown; use 'parametric', 'primal-dual', 'lp'"),
    "solver without lam": ({"solver": "lp"}, "solver='lp' solves for one lam at a time: give lam=..."),
    "solver with budget": ({"solver": "primal-dual", "budget": 1.0}, "solves for one lam at a time"),
    "several scorers": ({"scoring": ["accuracy", "r2"]}, "scoring must be one scorer, not several"),
    "unknown scorer": ({"scoring": "acuracy"}, "'acuracy'"),
    "too few costs": ({"costs": [1.0, 2.0]}, "costs has 2 entries for 6 features"),
    "negative cost": (
        {"costs": [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]},
        "costs must be finite numbers of at least 0",
    ),
    "unknown feature": ({"costs": dict.fromkeys("abcdef", 1.0)}, "costs names unknown features: 'a'"),
    "unknown need": ({"costs": FeatureCosts.from_sources({"a": 1}, {0: "a"})}, "needs lacks 'x1'"),
    "ranking without queries": ({"scoring": ap_scorer(5)}, r"pass fit(X, y, qid=...)"),
    "counting": ({"counting": "early"}, "counting='early' is unknown; use 'full', 'decided'"),
    "slack with full": ({"slack": 0.1}, "slack=0.1 is about predictions that stop early: it needs counting="),
    "auto with full": ({"slack": "auto"}, "slack='auto' is about predictions that stop early"),
    "slack of a half": ({"slack": 0.5}, "slack must be a number of at least 0 and below 0.5, or 'auto'"),
    "negative slack": ({"slack": -0.1}, "slack must be a number"),
    "NaN slack": ({"slack": np.nan}, "slack must be a number"),
    "slack of text": ({"slack": "much"}, "below 0.5, or 'auto', not 'much'"),
    "slack of truth": ({"slack": True}, "slack must be a number"),
    "no slack": ({"slack": None}, "slack must be a number"),
    "auto with lam": ({**EARLY, "slack": "auto", "lam": 0.1}, "slack='auto' is chosen for a budget; with a"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs == 0"),
    "random_state": ({"random_state": "lucky"}, "'lucky'"),
    "not a model": ({"estimator": 40}, "estimator must be a model with a fit method, not int"),
    "class": (
        {"estimator": RandomForestClassifier},
        "not RandomForestClassifier; write RandomForestClassifier(",
    ),
    "booster": ({"estimator": lightgbm.Booster.__new__(lightgbm.Booster)}, "FrozenEstimator(model) if it is"),
    "other model": ({"estimator": LogisticRegression()}, "cannot turn a sklearn.LogisticRegression into a"),
    "search": (
        {"estimator": GridSearchCV(RandomForestClassifier(), {"max_depth": [2]})},
        "take pipelines that end with such a model; of a search, pass best_estimator_",
    ),
    "frozen other model": (
        {"estimator": FrozenEstimator(LogisticRegression())},
        "cannot turn a sklearn.Logistic",
    ),
}
CLASSIFIER = {
    "threshold": ({"threshold": 1.5}, "threshold must be a number between 0 and 1, not 1.5"),
    "threshold of text": ({"threshold": "high"}, "threshold must be a number between 0 and 1, not 'high'"),
    "regressor": (
        {"estimator": RandomForestRegressor()},
        "predicts numbers; use BudgetPruneRegressor for it",
    ),
    "squared loss": ({"loss": "squared"}, "use None, 'misclassification', 'brier'"),
    "slack and probabilities": (
        {**EARLY, "slack": "auto", "scoring": "roc_auc"},
        "stop before probabilities are known",
    ),
    "slack and ranking": (
        {**EARLY, "slack": 0.1, "scoring": ap_scorer(5)},
        "use a scoring of labels, slack=0",
    ),
}
REGRESSOR = {
    "classifier": (
        {"estimator": RandomForestClassifier()},
        "predicts classes; use BudgetPruneClassifier for it",
    ),
    "softmax": ({"refit": "softmax"}, "refit='softmax' is unknown; use 'auto', None, 'squared', 'own'"),
    "loss": ({"loss": "brier"}, "loss='brier' is unknown; use None, 'squared'"),
    "tolerance with full": ({"tolerance": 1.0}, "tolerance=1.0 is about predictions that stop early"),
    "negative tolerance": ({**EARLY, "tolerance": -1.0}, "tolerance must be a finite number of at least 0"),
    "slack alone": ({**EARLY, "slack": 0.1}, "slack=0.1 does nothing without a tolerance: give tolerance="),
    "slack and 0": ({**EARLY, "slack": "auto", "tolerance": 0.0}, "does nothing without a tolerance"),
}


def refuse(model, rows, message, **extra):
    with pytest.raises((InvalidInputError, UnsupportedModelError, ValueError), match=re.escape(message)):
        model.fit(*rows, **extra)
    assert not model.__sklearn_is_fitted__()
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("name", [*BOTH, *CLASSIFIER])
def test_parameters_of_classifiers(name):
    parameters, message = {**BOTH, **CLASSIFIER}[name]
    refuse(BudgetPruneClassifier(**parameters), (X, Y), message)


@pytest.mark.parametrize("name", [*BOTH, *REGRESSOR])
def test_parameters_of_regressors(name):
    parameters, message = {**BOTH, **REGRESSOR}[name]
    refuse(BudgetPruneRegressor(**parameters), (X, TARGET), message)


ROWS = {
    "no labels": ((X, None), {}, "requires y to be passed, but the target y is None"),
    "fewer labels": ((X, Y[:-1]), {}, "inconsistent numbers of samples"),
    "fewer weights": ((X, Y), {"sample_weight": np.ones(3)}, "sample_weight.shape == (3,)"),
    "negative weight": ((X, Y), {"sample_weight": -np.ones(200)}, "Negative values in data"),
    "no weight": ((X, Y), {"sample_weight": np.zeros(200)}, "zero"),
    "fewer queries": ((X, Y), {"qid": np.ones(3)}, "inconsistent numbers of samples"),
    "X_val alone": ((X, Y), {"X_val": X}, "X_val and y_val belong together; pass both, or neither"),
    "y_val alone": ((X, Y), {"y_val": Y}, "X_val and y_val belong together"),
    "sample_weight_val alone": ((X, Y), {"sample_weight_val": Y}, "belong to X_val and y_val; pass those"),
    "qid_val alone": ((X, Y), {"qid_val": Y}, "belong to X_val and y_val; pass those"),
    "qid without qid_val": ((X, Y), {"qid": Y, "X_val": X, "y_val": Y}, "qid and qid_val belong together"),
    "other features": ((X, Y), {"X_val": X[:, :3], "y_val": Y}, "X has 3 features, but"),
    "one row": ((X[:1], Y[:1]), {}, "n_samples=1: too few rows to keep 30% of them for validation"),
    "text": ((np.full((200, 6), "a"), Y), {}, "not compatible with arrays of bytes/strings"),
    "one query": ((X, Y), {"qid": np.ones(200)}, "too few queries to keep 30% of them for validation"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    rows, extra, message = ROWS[name]
    refuse(BudgetPruneClassifier(), rows, message, **extra)


def test_targets():
    refuse(BudgetPruneClassifier(), (X, TARGET), "Unknown label type: continuous")
    refuse(
        BudgetPruneClassifier(threshold=0.3),
        (X, THREE),
        "threshold decides between two classes, but there are 3",
    )
    refuse(BudgetPruneRegressor(), (X, np.where(Y == 1, np.nan, 0.0)), "Input y contains NaN")
    refuse(BudgetPruneRegressor(), (X, np.where(Y == 1, "a", "b")), "could not convert string")


@pytest.mark.parametrize(
    ("model", "parameters", "message"),
    [
        (
            RandomForestClassifier,
            {"refit": "own"},
            "a refit of kind 'own' does not fit this forest; use 'squared'",
        ),
        (GradientBoostingClassifier, {"refit": "squared"}, "does not fit this forest; use 'own'"),
        (GradientBoostingClassifier, {"error": "out-of-bag"}, "out-of-bag"),
        (GradientBoostingClassifier, {"loss": "brier"}, "boosted ones have a loss of their own: loss=None"),
    ],
)
def test_what_only_the_grown_ensemble_can_tell(monkeypatch, model, parameters, message):
    monkeypatch.undo()
    refuse(BudgetPruneClassifier(model(n_estimators=3), **parameters), (X, Y), message)


def test_validation_labels_that_no_training_row_has(monkeypatch):
    monkeypatch.undo()
    model = BudgetPruneClassifier(RandomForestClassifier(3))
    refuse(model, (X, Y), "y_val has labels that y lacks: 2", X_val=X, y_val=THREE)
