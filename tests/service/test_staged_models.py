"""The service with staged models: the same dialogue, no bounds, and JSON that is valid."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

from budgetprune import BudgetClassifier, BudgetPredictor, BudgetRegressor, FeatureCosts, StagedPredictor
from budgetprune.service import create_app
from budgetprune.service.documents import Answer

from .models import as_answer
from .servers import ask

COSTS = FeatureCosts(
    {"age": 0, "pulse": 1, "iron": 2, "marker": 3},
    groups={"iron": "blood draw", "marker": "blood draw"},
    group_costs={"blood draw": 1},
)
N_ROWS = 20


@cache
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    health = rng.normal(size=300)
    noise = {"age": 3.0, "pulse": 1.0, "iron": 0.7, "marker": 0.3}
    columns = {name: health + scale * rng.normal(size=300) for name, scale in noise.items()}
    return pd.DataFrame(columns), health


@cache
def predictor(kind: str) -> StagedPredictor:
    X, y = rows()
    if kind == "classes":
        return BudgetClassifier(COSTS, random_state=0).fit(X[:250], y[:250] > 0).predictor()
    return BudgetRegressor(COSTS, random_state=0).fit(X[:250], y[:250]).predictor()


def dialogue(app, row):
    """Send what is asked for until nothing is."""
    values, acquired = {}, []
    for _ in range(20):
        response = ask(app, "POST", "/v1/step", json={"values": values, "acquired": acquired})
        assert response.status_code == 200, response.text
        answer = response.json()
        Answer.model_validate(answer, strict=True)
        if answer["next"] is None:
            return answer
        acquired = [*answer["acquired"], answer["next"]]
        has = {*acquired, "age"}
        needs = {"age": set(), "pulse": {"pulse"}}
        needs |= {name: {name, "blood draw"} for name in ("iron", "marker")}
        values |= {name: row[name] for name in answer["next_features"] if needs[name] <= has}
    raise AssertionError("the dialogue has no end")


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_dialogue_ends_as_a_decision_does(kind):
    curve = predictor(kind).model.trade_off
    model = predictor(kind).with_budget(float(curve.cost[len(curve) // 2]))
    app = create_app(model)
    reasons = set()
    for i in range(250, 250 + N_ROWS):
        row = rows()[0].iloc[i].to_dict()
        answer, expected = dialogue(app, row), model.decide(row)
        assert answer["cost"] == pytest.approx(expected.cost)
        assert answer["label"] == pytest.approx(expected.label)
        assert set(answer["acquired"]) - {"age"} == set(expected.acquired)
        assert answer["decided"]
        reasons.add(answer["reason"])
    assert "stopped" in reasons
    assert 'budgetprune_decisions_total{reason="stopped"}' in ask(app, "GET", "/metrics").text


def test_complete_rows():
    model = predictor("classes")
    row = rows()[0].iloc[260].to_dict()
    answer = ask(create_app(model), "POST", "/v1/decide", json={"values": row}).json()
    assert answer == as_answer(model, model.decide(row))
    assert answer["lower"] == {"false": 0, "true": 0}
    assert answer["upper"] == {"false": 1, "true": 1}


def test_regression_has_no_bounds():
    """Infinite bounds are null: JSON has no infinity."""
    app = create_app(predictor("numbers"))
    responses = [
        ask(app, "POST", "/v1/decide", json={"values": rows()[0].iloc[260].to_dict()}),
        ask(app, "POST", "/v1/step", json={"values": {}}),
    ]
    for response in responses:
        answer = json.loads(response.text, parse_constant=lambda word: pytest.fail(word))
        assert answer["lower"] is answer["upper"] is answer["probabilities"] is None
        assert isinstance(answer["label"], float)


def test_what_is_served():
    model = predictor("classes").with_budget(0)
    found = ask(create_app(model), "GET", "/v1/model").json()
    assert found["settings"] == {"slack": 0, "max_cost": None, "threshold": None, "tolerance": None}
    assert found["classes"] == [False, True]
    used = {feature["name"] for feature in found["features"] if feature["used"]}
    assert used <= {"age"}  # no row gets to another stage within this budget
    values = dict.fromkeys(used, 0.5)
    assert ask(create_app(model), "POST", "/v1/decide", json={"values": values}).status_code == 200


def test_a_limit_for_one_request():
    app = create_app(predictor("classes"))
    row = rows()[0].iloc[261].to_dict()
    answer = ask(app, "POST", "/v1/decide", json={"values": row, "max_cost": 1}).json()
    assert answer["cost"] <= 1
    assert answer["reason"] in ("max_cost", "stopped")


def test_files_are_served(tmp_path):
    predictor("numbers").save(tmp_path / "m.budgetprune")
    app = create_app(BudgetPredictor.load(tmp_path / "m.budgetprune"))
    row = rows()[0].iloc[262].to_dict()
    bodies = {"rows": [{"values": row}, {"values": row}]}
    answers = ask(app, "POST", "/v1/batch/decide", json=bodies).json()["answers"]
    assert answers[0] == answers[1]
    assert answers[0]["label"] == pytest.approx(predictor("numbers").decide(row).label)
