"""Calibrated classifiers: probabilities and labels of scikit-learn, or a refusal by name."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from budgetprune import BudgetPredictor, BudgetPruneClassifier, Forest, UnsupportedModelError

X, Y = make_classification(400, n_features=6, n_informative=4, flip_y=0.1, random_state=0)
LABELS = np.array(["sick", "well"])[Y]
MODELS = {
    "forest": RandomForestClassifier(7, max_depth=4, random_state=0),
    "extra": ExtraTreesClassifier(7, max_depth=4, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=8, random_state=0),
    "hist": HistGradientBoostingClassifier(max_iter=8, random_state=0),
}


def calibrated(model, method="sigmoid", labels=LABELS, **settings):
    fitted = model.fit(X[:200], labels[:200])
    return CalibratedClassifierCV(FrozenEstimator(fitted), method=method, **settings).fit(
        X[200:], labels[200:]
    )


def on_thresholds(forest):
    """Rows that lie exactly on thresholds, and others."""
    rows = X.copy()
    for k, node in enumerate(np.flatnonzero(forest.is_split)[:200]):
        rows[k, forest.feature[node]] = forest.threshold[node]
    return rows


@pytest.mark.parametrize("name", MODELS)
def test_sigmoids_give_the_same_probabilities(name):
    model = calibrated(MODELS[name])
    forest = Forest.from_model(model)
    rows = on_thresholds(forest)
    np.testing.assert_allclose(forest.predict_proba(rows), model.predict_proba(rows), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(forest.predict(rows), model.predict(rows))
    decided = BudgetPredictor(forest).simulate(rows)
    np.testing.assert_array_equal(decided.label, model.predict(rows))
    assert decided.cost.mean() < 6


@pytest.mark.parametrize("name", ["boosted", "hist"])
def test_temperatures_give_the_same_probabilities(name):
    model = calibrated(MODELS[name], "temperature")
    forest = Forest.from_model(model)
    rows = on_thresholds(forest)
    np.testing.assert_allclose(forest.predict_proba(rows), model.predict_proba(rows), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(forest.predict(rows), model.predict(rows))


def test_one_classifier_that_was_calibrated_by_cross_validation():
    model = CalibratedClassifierCV(MODELS["forest"], ensemble=False, cv=3).fit(X, LABELS)
    forest = Forest.from_model(model)
    np.testing.assert_allclose(forest.predict_proba(X), model.predict_proba(X), rtol=1e-12)


def test_pruning_keeps_the_calibration():
    model = calibrated(MODELS["forest"])
    pruned = BudgetPruneClassifier(FrozenEstimator(model), lam=0.002, refit=None, error="held-out")
    pruned.fit(X[200:], LABELS[200:])
    assert 0 < pruned.forest_.n_splits < pruned.path_.unpruned.n_splits
    assert pruned.score(X[200:], LABELS[200:]) > 0.7
    whole = pruned.path_.unpruned.forest
    np.testing.assert_allclose(whole.predict_proba(X), model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: calibrated(MODELS["forest"], "isotonic"), r"method='isotonic' and 2 classes"),
        (
            lambda: calibrated(MODELS["forest"], "temperature"),
            "a temperature of the probabilities of a Random",
        ),
        (
            lambda: calibrated(MODELS["forest"], labels=np.arange(400) % 3),
            r"method='sigmoid' and 3 classes; only two",
        ),
        (
            lambda: CalibratedClassifierCV(MODELS["forest"], cv=3, ensemble=True).fit(X, LABELS),
            r"averages 3 classifiers \(ensemble=True\).*CalibratedClassifierCV\(FrozenEstimator\(pruned\)\)",
        ),
    ],
)
def test_what_is_no_sum_of_trees_is_refused(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Forest.from_model(model())


def test_boosted_models_of_other_libraries():
    """Scores are calibrated if a model has a decision function, which depends on the library's version."""
    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    numbers = (LABELS == "well").astype(int)
    for model in (
        lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1),
        xgboost.XGBClassifier(n_estimators=4, n_jobs=1),
    ):
        found = calibrated(model, labels=numbers)
        if hasattr(model, "decision_function"):
            forest = Forest.from_model(found)
            np.testing.assert_allclose(forest.predict_proba(X), found.predict_proba(X), rtol=1e-12)
        else:
            with pytest.raises(UnsupportedModelError, match=r"the probabilities of a \w+, which is boosted"):
                Forest.from_model(found)
