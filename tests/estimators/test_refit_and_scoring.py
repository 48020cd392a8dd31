"""Refitted leaves, and scorers: what was chosen is said, and the way back stays open where it can."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier

from budgetprune import InvalidInputError, UnsupportedModelError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.ranking import ap_scorer, ndcg_at, ndcg_scorer, predicted_relevance
from budgetprune.refit import refit
from budgetprune.selection.final_model import TOLERANCE

from .rows import draw, draw_targets, same_trees

FIXED = {"error": "in-bag", "loss": "misclassification", "random_state": 0, "budget": 3.0}


def forest():
    return RandomForestClassifier(6, max_depth=5, random_state=0)


@pytest.fixture(scope="module")
def rows():
    return draw(400, n_classes=3)


@pytest.fixture(scope="module")
def two_classes():
    return draw(400)


# --- Refits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, "squared", "softmax", "auto"])
def test_attributes_say_how_leaves_were_refitted(rows, kind):
    model = BudgetPruneClassifier(forest(), refit=kind, **FIXED).fit(*rows)
    if kind != "auto":
        assert model.refit_ == kind
    assert model.choices_.refit == model.refit_
    pruned = model.path_.at(budget=3.0).forest
    if model.refit_ is None:
        assert model.refit_gradient_norm_ is None
        assert same_trees(model.forest_, pruned)
    else:
        assert model.refit_gradient_norm_ <= TOLERANCE
        assert model.choices_.ridge > 0
        assert np.array_equal(model.forest_.feature, pruned.feature)
        assert not np.allclose(model.forest_.value, pruned.value)
    tried = {trial.refit for trial in model.choices_.trials}
    assert tried == {None, "squared", "softmax"} if kind == "auto" else tried <= {kind}
    probability = model.predict_proba(rows[0])
    assert probability.sum(axis=1) == pytest.approx(np.ones(400))
    assert probability.min() >= 0


@pytest.mark.parametrize("kind", ["squared", "softmax"])
def test_refit_uses_training_and_validation_rows(rows, kind):
    X_val, y_val = draw(150, n_classes=3, seed=1)
    model = BudgetPruneClassifier(forest(), refit=kind, ridge=4.0, **FIXED)
    model.fit(*rows, X_val=X_val, y_val=y_val)
    pruned = model.path_.at(budget=3.0).forest
    X, y = np.vstack([rows[0], X_val]), np.concatenate([rows[1], y_val])
    expected = refit(pruned, X, y, kind=kind, ridge=4.0, tolerance=TOLERANCE)
    assert model.forest_.value == pytest.approx(expected.forest.value, abs=1e-9)


def test_refit_of_regression():
    X, y = draw_targets(400)
    model = BudgetPruneRegressor(
        RandomForestRegressor(6, max_depth=5), budget=3.0, refit="squared", random_state=0
    ).fit(X, y)
    plain = BudgetPruneRegressor(model.estimator, refit=None, budget=3.0, random_state=0).fit(X, y)
    assert model.refit_ == "squared"
    assert plain.refit_ is None
    assert model.score(X, y) > plain.score(X, y)
    assert model.to_sklearn().predict(X) == pytest.approx(model.predict(X))


@pytest.mark.parametrize("kind", [None, "squared"])
def test_way_back_to_scikit_learn(rows, kind):
    model = BudgetPruneClassifier(forest(), refit=kind, **FIXED).fit(*rows)
    back = model.to_sklearn()
    assert type(back) is RandomForestClassifier
    assert back.predict_proba(rows[0]) == pytest.approx(model.predict_proba(rows[0]))
    assert np.array_equal(back.predict(rows[0]), model.predict(rows[0]))
    assert sum(tree.tree_.node_count for tree in back.estimators_) == model.forest_.n_nodes


def test_softmax_closes_the_way_back_but_not_that_to_onnx(rows):
    model = BudgetPruneClassifier(forest(), refit="softmax", **FIXED).fit(*rows)
    with pytest.raises(UnsupportedModelError, match="softmax link"):
        model.to_sklearn()
    X = rows[0].astype(np.float32)
    session = onnxruntime.InferenceSession(model.forest_.to_onnx().SerializeToString())
    label, probability = session.run(None, {"X": X})
    assert probability == pytest.approx(model.predict_proba(X), abs=1e-5)
    assert np.array_equal(label, model.predict(X))


def test_scores_before_the_link(two_classes, rows):
    """Averaged probabilities have none; everything else decides by them."""
    X, y = two_classes
    plain = BudgetPruneClassifier(forest(), refit=None, **FIXED).fit(X, y)
    assert not hasattr(plain, "decision_function")
    for model in (
        BudgetPruneClassifier(forest(), refit="softmax", **FIXED).fit(X, y),
        BudgetPruneClassifier(GradientBoostingClassifier(n_estimators=5), budget=3.0, random_state=0).fit(
            X, y
        ),
    ):
        score = model.decision_function(X)
        assert score.shape == (400,)
        assert np.array_equal(model.predict(X), (score > 0).astype(int))
        assert 1 / (1 + np.exp(-score)) == pytest.approx(model.predict_proba(X)[:, 1])
    many = BudgetPruneClassifier(forest(), refit="softmax", **FIXED).fit(*rows)
    assert np.array_equal(many.decision_function(rows[0]).argmax(axis=1), many.predict(rows[0]))


# --- Scorers ------------------------------------------------------------------------------------------------


def half_the_accuracy(estimator, X, y):
    return accuracy_score(y, estimator.predict(X)) / 2


EXPECTED = {
    "accuracy": ("accuracy", lambda m, X, y: accuracy_score(y, m.predict(X))),
    "roc_auc": ("roc_auc", lambda m, X, y: roc_auc_score(y, m.predict_proba(X)[:, 1])),
    "made": (make_scorer(f1_score, pos_label=0), lambda m, X, y: f1_score(y, m.predict(X), pos_label=0)),
    "callable": (half_the_accuracy, half_the_accuracy),
    "usual": (None, lambda m, X, y: accuracy_score(y, m.predict(X))),
}


@pytest.mark.parametrize("scoring", EXPECTED)
def test_score_follows_scoring(two_classes, scoring):
    scorer, expected = EXPECTED[scoring]
    model = BudgetPruneClassifier(forest(), refit=None, scoring=scorer, **FIXED).fit(*two_classes)
    X, y = draw(200, seed=1)
    assert model.score(X, y) == pytest.approx(expected(model, X, y))
    assert 0.3 < model.tradeoff_.score[0] <= 1


def test_weights_reach_the_scorer(two_classes):
    X, y = two_classes
    weight = np.where(y == 1, 50.0, 1.0)
    fixed = {**FIXED, "budget": None, "lam": 0.0}
    for scoring in (None, "accuracy"):
        model = BudgetPruneClassifier(forest(), refit=None, scoring=scoring, **fixed).fit(X, y, weight)
        expected = accuracy_score(y, model.predict(X), sample_weight=weight)
        assert model.score(X, y, weight) == pytest.approx(expected)
        assert model.score(X, y, weight) != model.score(X, y)
        # Whatever predicts the second class for all rows is right with 50 of 51.
        assert model.tradeoff_.score[-1] > 0.9


def test_scorers_see_what_an_estimator_can_do(two_classes):
    def saves(estimator, X, y):
        return -estimator.acquisition_cost(X).mean()

    model = BudgetPruneClassifier(forest(), refit=None, scoring=saves, error="in-bag", random_state=0)
    tradeoff = model.fit(*two_classes).tradeoff_
    assert tradeoff.score[-1] == 0
    assert tradeoff.score[0] < -1
    assert np.all(np.diff(tradeoff.score) >= 0)
    # Rows that judge cost about as much as those that were asked.
    assert np.all(-tradeoff.score <= 1.2 * tradeoff.cost)
    assert model.cost_ == 0


@pytest.mark.parametrize("scorer", [ap_scorer(3), ndcg_scorer(5)])
def test_ranking_quality_chooses(scorer):
    X, y = draw(400, n_classes=3)
    qid = np.arange(400) % 40
    for model in (
        BudgetPruneClassifier(forest(), scoring=scorer, random_state=0, budget=3.0),
        BudgetPruneRegressor(
            RandomForestRegressor(5, max_depth=4), scoring=scorer, random_state=0, budget=3.0
        ),
    ):
        model.fit(X, y, qid=qid)
        assert model.score(X, y, qid=qid) == scorer(model, X, y, qid=qid)
        assert 0.5 < model.tradeoff_.score[0] <= 1
        extra = {"X_val": X[:200], "y_val": y[:200], "qid_val": qid[:200]}
        model.fit(X[200:], y[200:], qid=qid[200:], **extra)
        assert 0.5 < model.tradeoff_.score[0] <= 1
        with pytest.raises(InvalidInputError, match="pass qid"):
            model.score(X, y)


def test_ranking_by_a_pruned_classifier():
    X, y = draw(300, n_classes=3)
    qid = np.arange(300) % 20
    model = BudgetPruneClassifier(forest(), scoring=ndcg_scorer(4), refit=None, **FIXED).fit(X, y, qid=qid)
    assert model.score(X, y, qid=qid) == ndcg_at(y, predicted_relevance(model, X), qid, 4)


def test_threshold(two_classes):
    X, y = two_classes
    usual = BudgetPruneClassifier(forest(), refit=None, **FIXED).fit(X, y)
    for threshold in (0.0, 0.2, 0.8, 1.0):
        model = BudgetPruneClassifier(forest(), refit=None, threshold=threshold, **FIXED).fit(X, y)
        second = model.predict_proba(X)[:, 1]
        assert np.array_equal(model.predict(X), (second >= threshold).astype(int))
        # Choices are judged with it.
        if threshold == 0.0:
            assert model.tradeoff_.score == pytest.approx(np.full(len(model.tradeoff_), 0.5), abs=0.02)
    assert np.array_equal(usual.predict(X), (usual.predict_proba(X)[:, 1] > 0.5).astype(int))


def test_threshold_closes_the_way_back(two_classes):
    model = BudgetPruneClassifier(forest(), refit=None, threshold=0.3, **FIXED).fit(*two_classes)
    with pytest.raises(UnsupportedModelError, match=r"write FixedThresholdClassifier\(FrozenEstimator"):
        model.to_sklearn()
    back = FixedThresholdClassifier(FrozenEstimator(model.forest_.to_sklearn()), threshold=0.3)
    back.fit(*two_classes)
    assert np.array_equal(back.predict(two_classes[0]), model.predict(two_classes[0]))
