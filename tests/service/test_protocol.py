"""The dialogue over a real socket: whoever follows it step by step gets what `decide` gets."""

from __future__ import annotations

import re

import pytest

from .conftest import MAX_BATCH
from .dialogue import dialogue
from .models import as_answer, predictor, rows

PREDICTOR = predictor("classes")


def test_step_by_step_is_decide(client):
    for row in rows("classes", 12):
        answer, asked = dialogue(client, row)
        expected = as_answer(PREDICTOR, PREDICTOR.decide(row))
        assert answer["decided"]
        assert answer["label"] == expected["label"]
        assert answer["cost"] == pytest.approx(expected["cost"])
        assert answer["acquired"] == expected["acquired"]
        assert [name for name in asked if name != "x0"] == expected["acquired"]


def test_complete_rows(client):
    for row in rows("classes", 5):
        assert client.post("/v1/decide", json={"values": row}).json() == as_answer(
            PREDICTOR, PREDICTOR.decide(row)
        )


def test_max_cost_and_unavailable_sources(client):
    (row,) = rows("classes", 1)
    expected = PREDICTOR.decide(row, max_cost=2)
    answer = client.post("/v1/decide", json={"values": row, "max_cost": 2}).json()
    assert answer == as_answer(PREDICTOR, expected)
    assert (answer["decided"], answer["reason"]) == (False, "max_cost")
    everything = {"unavailable": [*PREDICTOR.source_names, "x0"]}
    answer = client.post("/v1/step", json={"values": {}} | everything).json()
    assert (answer["decided"], answer["reason"], answer["next"]) == (False, "unavailable", None)


def test_what_is_known_is_free(client):
    answer = client.post("/v1/step", json={"values": {}, "known": {"x2": 0.5, "x0": 1}}).json()
    assert answer["cost"] == 0
    paid = client.post("/v1/step", json={"values": {"x2": 0.5, "x0": 1}}).json()
    assert paid["cost"] == 4
    assert paid["acquired"] == ["scan", "test 0"]


def test_order_of_what_was_acquired_is_kept(client):
    body = {"values": {"x2": 0.5}, "acquired": ["blood", "test 0"]}
    body["values"] |= {"x1": 0.0, "x6": 0.0, "x7": 0.0}
    answer = client.post("/v1/step", json=body).json()
    assert answer["acquired"] == ["blood", "test 0", "scan"]
    assert answer["cost"] == 6


def test_next_source_with_its_price_and_features(client):
    answer = client.post("/v1/step", json={"values": {}, "known": None, "max_cost": None}).json()
    prices = dict(zip(PREDICTOR.source_names, PREDICTOR.costs.price.tolist(), strict=True)) | {"x0": 0.0}
    assert answer["next_cost"] == prices[answer["next"]]
    assert answer["next_features"] == list(PREDICTOR.features_of(answer["next"]))
    assert all(
        answer["lower"][label] <= answer["probabilities"][label] <= answer["upper"][label]
        for label in ("0", "10", "20")
    )


def test_batches_answer_row_by_row(client):
    complete = [{"values": row} for row in rows("classes", MAX_BATCH)]
    found = client.post("/v1/batch/decide", json={"rows": complete}).json()["answers"]
    assert found == [client.post("/v1/decide", json=body).json() for body in complete]
    steps = [{"values": dict(list(row.items())[:k])} for k, row in enumerate(rows("classes", 9))]
    found = client.post("/v1/batch", json={"rows": steps}).json()["answers"]
    assert found == [client.post("/v1/step", json=body).json() for body in steps]
    assert client.post("/v1/batch", json={"rows": []}).json() == {"answers": []}


def test_what_is_served(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    model = client.get("/v1/model").json()
    assert model["classes"] == [0, 10, 20]
    assert [feature["name"] for feature in model["features"]] == list(PREDICTOR.feature_names)
    assert {source["name"]: source["price"] for source in model["sources"]}["blood"] == 2
    assert model["settings"] == {"slack": 0.0, "max_cost": None, "threshold": None, "tolerance": None}


def test_nothing_is_loaded_from_elsewhere(client):
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert client.get("/openapi.json").json()["info"]["title"] == "budgetprune"


def counters(client):
    text = client.get("/metrics").text
    return {name: float(value) for name, value in re.findall(r"^(\S+|\S+\{.*\}) (\S+)$", text, flags=re.M)}


def test_counters(client):
    before = counters(client)

    def grown(name):
        return counters(client).get(name, 0.0) - before.get(name, 0.0)

    body = {"values": rows("classes", 1)[0]}
    answer = client.post("/v1/decide", json=body).json()
    client.post("/v1/batch/decide", json={"rows": [body, body]})
    waiting = client.post("/v1/step", json={"values": {}}).json()
    assert waiting["next"] is not None  # is no decision
    client.post("/v1/batch/decide", json={"rows": [body, {}]})  # and nothing of a bad batch counts
    assert grown(f'budgetprune_decisions_total{{reason="{answer["reason"]}"}}') == 3
    assert grown("budgetprune_decision_cost_count") == 3
    assert grown("budgetprune_decision_cost_sum") == pytest.approx(3 * answer["cost"])
    for source in PREDICTOR.source_names:
        expected = 3 * (source in answer["acquired"])
        assert grown(f'budgetprune_sources_acquired_total{{source="{source}"}}') == expected
    assert grown('budgetprune_request_seconds_count{endpoint="/v1/decide"}') == 1
    assert grown('budgetprune_requests_total{endpoint="/v1/batch/decide",status="422"}') == 1
