"""Class weights of pruned classifiers: errors are weighted, costs are not."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.class_weight import compute_sample_weight

from budgetprune import BudgetPruneClassifier, Forest, InvalidInputError, PruningProblem

from .rows import draw

X, Y = draw(300, n_classes=3)
X_VAL, Y_VAL = draw(150, n_classes=3, seed=1)
Y, Y_VAL = (Y > 0).astype(int), (Y_VAL > 0).astype(int)
LABELS = np.unique(Y).tolist()
WEIGHTS = {LABELS[0]: 5.0, LABELS[1]: 0.5}


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(5, max_depth=5, random_state=0).fit(X, Y)


@pytest.mark.parametrize("wish", [WEIGHTS, "balanced"])
@pytest.mark.parametrize("error", ["held-out", "pooled"])
def test_errors_are_those_of_weighted_rows(forest, wish, error):
    rows = {"error": error, "X_train": X, "y_train": Y, "loss": "brier"}
    model = Forest.from_model(forest)
    found = PruningProblem(model, X_VAL, Y_VAL, class_weight=wish, **rows)
    by_class = wish if wish != "balanced" else _balanced(Y_VAL)
    of_rows = [[by_class.get(label, 1.0) for label in labels] for labels in (Y_VAL.tolist(), Y.tolist())]
    weighted = {"sample_weight": of_rows[0], "sample_weight_train": of_rows[1]}
    expected = PruningProblem(model, X_VAL, Y_VAL, **weighted, **rows)
    assert np.allclose(found.error, expected.error)
    plain = PruningProblem(model, X_VAL, Y_VAL, **rows)
    assert not np.allclose(found.error, plain.error)
    assert np.array_equal(found.row_weight, plain.row_weight)
    assert found.cost_of(found.unpruned) == plain.cost_of(plain.unpruned)


def _balanced(labels):
    return dict(zip(labels.tolist(), compute_sample_weight("balanced", labels).tolist(), strict=True))


def test_recorded_weights_of_trees(forest):
    """In-bag errors of misclassification, with the recorded weights of each class times the given ones."""
    model = Forest.from_model(forest)
    problem = PruningProblem(model, X_VAL, error="in-bag", class_weight=WEIGHTS)
    recorded = model.class_weight * [WEIGHTS.get(label, 1.0) for label in model.classes.tolist()]
    predicted = model.value.argmax(axis=1)
    lost = recorded.sum(axis=1) - recorded[np.arange(len(recorded)), predicted]
    assert np.allclose(problem.lost, lost)


def test_recorded_gains_have_no_classes():
    booster = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1).fit(X, Y)
    with pytest.raises(InvalidInputError, match=r"cannot be weighted by class; use error='held-out'"):
        PruningProblem(Forest.from_model(booster), X_VAL, Y_VAL, class_weight=WEIGHTS)
    model = BudgetPruneClassifier(FrozenEstimator(booster), error_weight=WEIGHTS, random_state=0)
    assert model.fit(X_VAL, Y_VAL).choices_.error == "held-out"


def test_the_default_score_and_costs(forest):
    frozen = FrozenEstimator(forest)
    model = BudgetPruneClassifier(frozen, error_weight="balanced", budget=1.5, random_state=0)
    model.fit(X_VAL, Y_VAL)
    expected = balanced_accuracy_score(Y, model.predict(X))
    assert model.score(X, Y) == pytest.approx(expected)
    assert model.cost_ == pytest.approx(model.acquisition_cost(X_VAL).mean())
    assert model.cost_ <= 1.5


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"none": 2}, "class_weight has a weight for 'none'; the classes are"),
        (dict.fromkeys(LABELS, 0.0), "and one above 0"),
        ({LABELS[0]: -1.0}, "weight of at least 0"),
        ("even", "must be 'balanced', or have a finite weight"),
    ],
)
def test_invalid_weights(forest, wish, words):
    model = BudgetPruneClassifier(FrozenEstimator(forest), error_weight=wish)
    with pytest.raises((InvalidInputError), match=words):
        model.fit(X_VAL, Y_VAL)
