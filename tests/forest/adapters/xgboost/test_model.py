"""XGBoost's JSON: supported models, and those that are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xgboost as xgb

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest

from .zoo import (
    N_ROWS,
    SMALL,
    amounts,
    booster_of,
    build,
    margins,
    three_classes,
    training_rows,
    two_classes,
)


def reloaded(model: Any) -> xgb.Booster:
    """The same model from a file: it no longer knows how it was trained."""
    booster = xgb.Booster()
    booster.load_model(bytearray(booster_of(model).save_raw("json")))
    return booster


def test_own_objective_has_no_loss_that_we_know() -> None:
    def half_squared(y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return score - y, np.ones_like(y)

    X = training_rows()
    model = xgb.XGBRegressor(**SMALL, objective=half_squared).fit(X, amounts(X))
    forest = Forest.from_model(model)
    assert forest.loss is None
    assert forest.split_gain is None
    np.testing.assert_allclose(forest.predict(X), model.predict(X), rtol=1e-6, atol=1e-6)


def test_best_round_counts_where_predict_says_so() -> None:
    case = build("softmax, early end")
    n_rounds = case.booster.num_boosted_rounds()
    assert case.forest.n_trees == 3 * (case.model.best_iteration + 1) < 3 * n_rounds
    all_trees = Forest.from_model(case.booster)
    assert all_trees.n_trees == 3 * n_rounds
    own = margins(case.booster, case.rows)
    np.testing.assert_allclose(all_trees.scores(case.rows), own, rtol=0, atol=1e-6 * np.abs(own).max())


def refused() -> dict[str, Any]:
    X = training_rows()
    two, three, amount = two_classes(X), three_classes(X), amounts(X)
    both = np.column_stack([amount, amount**2])
    classifier, regressor = xgb.XGBClassifier, xgb.XGBRegressor
    return {
        "booster='dart' drops trees": lambda: classifier(**SMALL, booster="dart").fit(X, two),
        "booster='gblinear' has no trees": lambda: regressor(n_estimators=2, booster="gblinear").fit(
            X, amount
        ),
        "multi_strategy='multi_output_tree'": lambda: regressor(
            **SMALL, multi_strategy="multi_output_tree"
        ).fit(X, both),
        "predicts 2 targets": lambda: regressor(**SMALL).fit(X, both),
        "objective='binary:hinge' predicts labels": lambda: classifier(**SMALL, objective="binary:hinge").fit(
            X, two
        ),
        "objective='survival:cox' is unknown. Supported are: binary:logistic": lambda: regressor(
            **SMALL, objective="survival:cox"
        ).fit(X, amount),
        "scores above 0.5, because its objective (binary:logitraw)": lambda: classifier(
            **SMALL, objective="binary:logitraw"
        ).fit(X, two),
        "scores above 0.5, because its objective (a custom function)": lambda: classifier(
            **SMALL, objective=lambda y, score: (score - y, np.ones_like(y))
        ).fit(X, two),
        "XGBRegressor with objective='binary:logistic' is a regressor for targets between 0 and 1": lambda: (
            regressor(**SMALL, objective="binary:logistic").fit(X, two)
        ),
        "Booster with objective='reg:logistic' is a regressor for targets between 0 and 1": lambda: xgb.train(
            {"objective": "reg:logistic"}, xgb.DMatrix(X, two), 2
        ),
        "treats -1.0 as a missing value": lambda: classifier(**SMALL, missing=-1.0).fit(X, three),
        "has no trees": lambda: classifier(n_estimators=0).fit(X, two),
        "single class": lambda: classifier(**SMALL, base_score=0.5).fit(X, np.zeros(N_ROWS)),
    }


@pytest.mark.parametrize("message", refused())
def test_refused(message: str) -> None:
    model = refused()[message]()
    with pytest.raises(UnsupportedModelError) as error:
        Forest.from_model(model)
    assert message in str(error.value)


@pytest.mark.parametrize("model", [xgb.XGBClassifier(), xgb.XGBRanker(), xgb.Booster()])
def test_not_fitted(model: Any) -> None:
    with pytest.raises(InvalidInputError, match="fitted"):
        Forest.from_model(model)


def test_unknown_fields_of_trees_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    booster = reloaded(build("logistic").model)
    document = json.loads(bytes(booster.save_raw("json")))
    document["learner"]["gradient_booster"]["model"]["trees"][0]["oblique"] = []
    monkeypatch.setattr(booster, "save_raw", lambda _: json.dumps(document).encode())
    with pytest.raises(UnsupportedModelError, match=r"version of XGBoost.*\(oblique\)"):
        Forest.from_model(booster)
