"""Models that scorers see while candidates are compared."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from budgetprune import BudgetPruneClassifier, FeatureCosts, Forest, InvalidInputError, PruningProblem
from budgetprune.selection.options import SelectionOptions
from budgetprune.selection.scored_model import EarlyLabels, scored_model

CLASSES = make_classification(200, 6, random_state=0)
TARGETS = make_regression(200, 6, random_state=0)
MODELS = {
    "averaged": (RandomForestClassifier(5, max_depth=4, random_state=0), CLASSES),
    "boosted": (GradientBoostingClassifier(n_estimators=5, random_state=0), CLASSES),
    "regression": (RandomForestRegressor(5, max_depth=4, random_state=0), TARGETS),
}


def options(**changes):
    unset = dict.fromkeys(("budget", "lam", "loss", "refit", "threshold", "tolerance"))
    values = {"error": "auto", "ridge": "auto", "counting": "full", "slack": 0.0, "solver": "parametric"}
    return SelectionOptions(**{**unset, **values, "verbose": False, **changes})


def pruned(name):
    model, (X, y) = MODELS[name]
    forest = Forest.from_model(model.fit(X, y))
    problem = PruningProblem(forest, X, y, error="held-out")
    return problem.path().at(budget=3.0), FeatureCosts(None).resolve(6, None), X, y


def scored(name, early=None, scores=None, **changes):
    pruning, prices, X, y = pruned(name)
    known = pruning.forest.scores(X) if scores is None else scores
    return scored_model(pruning, prices, options(**changes), X, known, early), pruning, X, y


@pytest.mark.parametrize("name", MODELS)
def test_it_predicts_as_the_pruned_forest_on_known_and_on_other_rows(name):
    model, pruning, X, _ = scored(name)
    check_is_fitted(model)
    assert is_classifier(model) == pruning.forest.is_classifier != is_regressor(model)
    for rows in (X, X[:50], X.copy()):
        np.testing.assert_array_equal(model.predict(rows), pruning.forest.predict(rows))
        if is_classifier(model):
            np.testing.assert_array_equal(model.predict_proba(rows), pruning.forest.predict_proba(rows))


def test_known_scores_are_used_for_the_rows_themselves_only():
    sure = np.tile([0.0, 1.0], (200, 1))
    model, pruning, X, _ = scored("averaged", scores=sure)
    assert model.predict(X).tolist() == [1] * 200
    np.testing.assert_array_equal(model.predict(X.copy()), pruning.forest.predict(X))


@pytest.mark.parametrize("scorer", ["accuracy", "roc_auc", "neg_log_loss", "average_precision"])
@pytest.mark.parametrize("name", ["averaged", "boosted"])
def test_scorers_of_scikit_learn_accept_it(name, scorer):
    model, pruning, X, y = scored(name)
    by_hand = RandomForestClassifier(1).fit(X, y)  # any fitted classifier with the same classes
    by_hand.predict, by_hand.predict_proba = pruning.forest.predict, pruning.forest.predict_proba
    assert get_scorer(scorer)(model, X, y) == pytest.approx(get_scorer(scorer)(by_hand, X, y))


def test_scorers_can_ask_for_costs():
    model, pruning, X, _ = scored("averaged")
    assert model.acquisition_cost(X).mean() == pytest.approx(pruning.cost)
    assert model.source_names_ == tuple(f"x{k}" for k in range(6))
    row = dict(zip(model.source_names_, X[0], strict=True))
    assert model.predictor().decide(row).cost <= 6


def test_a_scorer_that_asks_for_costs_chooses_among_points():
    X, y = CLASSES

    def saving(model, X, y):
        return float(np.mean(model.predict(X) == y) - 0.2 * model.acquisition_cost(X).mean())

    forest = RandomForestClassifier(5, max_depth=4, random_state=0)
    saves = BudgetPruneClassifier(forest, scoring=saving, random_state=0).fit(X, y)
    spends = BudgetPruneClassifier(forest, random_state=0).fit(X, y)
    assert saves.cost_ < spends.cost_


def test_early_labels_are_predicted_and_have_no_probabilities():
    labels = np.ones(200, dtype=np.intp)
    model, _, X, _ = scored("averaged", early=EarlyLabels(labels, 0.2), counting="decided")
    assert model.predict(X) is labels
    assert model.slack_ == 0.2
    with pytest.raises(InvalidInputError, match="stop before probabilities are known"):
        model.predict_proba(X)


def test_threshold_decides():
    model, pruning, X, _ = scored("averaged", threshold=0.9)
    is_second = pruning.forest.predict_proba(X)[:, 1] >= 0.9
    np.testing.assert_array_equal(model.predict(X), is_second.astype(int))
