"""The app in this process: labels of all kinds, numbers that JSON lacks, counters that stay few."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import numpy as np
import pytest

from budgetprune import BudgetPredictor, Forest, InvalidInputError
from budgetprune.service import Limits, create_app, scheduling
from budgetprune.service.columns import MOST_SOURCES, OTHER

from ..golden.write import MODELS
from .models import predictor, rows
from .servers import ask, check_refused

AVERAGED = MODELS["averaged"]()[0]
COMPLETE = {"age": 30, "TSH": 1.5, "T3": None, "Größe": 1.8, "town": "Bonn"}


@pytest.mark.parametrize(
    ("classes", "labels", "texts"),
    [
        (np.array(["no", "yes"]), ["no", "yes"], ["no", "yes"]),
        (np.array([False, True]), [False, True], ["false", "true"]),
        (np.array([-(2**63), 2**63 - 1]), [-(2**63), 2**63 - 1], [str(-(2**63)), str(2**63 - 1)]),
        (np.array([0.5, np.inf], dtype=np.float32), [0.5, "inf"], ["0.5", "inf"]),
        (np.array([b"no", b"\xff"]), ["no", "ÿ"], ["no", "ÿ"]),
        (np.array(["no", "yes"], dtype=object), ["no", "yes"], ["no", "yes"]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_labels(classes, labels, texts):
    app = create_app(BudgetPredictor(replace(AVERAGED, classes=classes)))
    assert ask(app, "GET", "/v1/model").json()["classes"] == labels
    answer = ask(app, "POST", "/v1/decide", json={"values": COMPLETE}).json()
    assert answer["label"] in labels
    assert list(answer["probabilities"]) == list(answer["lower"]) == list(answer["upper"]) == texts
    assert answer["label"] == labels[np.argmax(list(answer["probabilities"].values()))]


def test_categories():
    app = create_app(predictor("averaged"))

    def answer(town):
        response = ask(app, "POST", "/v1/step", json={"values": {"age": 30, "town": town}})
        assert response.status_code == 200, response.text
        return response.json()

    assert answer("Bonn")["probabilities"] != answer("Aix")["probabilities"]
    unknown = answer("Atlantis")
    (warning,) = unknown.pop("warnings")
    assert warning == "the value of 'town' is a category that the model does not know; it counts as missing."
    assert unknown == answer(None)
    assert "warnings" not in answer("Aix")
    response = ask(app, "POST", "/v1/step", json={"values": {"town": 3}})
    check_refused(response, 422, "'town' is 3, but its categories")


def test_regression():
    app = create_app(predictor("boosted"))
    answer = ask(app, "POST", "/v1/step", json={"values": {}}).json()
    assert answer["probabilities"] is None
    assert answer["lower"] < answer["label"] < answer["upper"]
    values = {"x0": 1, "x1": 2, "x2": 3}
    answer = ask(app, "POST", "/v1/decide", json={"values": values}).json()
    assert answer["label"] == predictor("boosted").decide(values).label


def test_an_infinite_target_is_null():
    forest = MODELS["boosted"]()[0]
    app = create_app(BudgetPredictor(replace(forest, value=forest.value * 1e4)))
    with np.errstate(over="ignore"):
        answer = ask(app, "POST", "/v1/step", json={"values": {}}).json()
    assert answer["upper"] is None
    assert isinstance(answer["lower"], float)


def test_a_free_feature_that_has_the_name_of_a_source():
    """Its price is 0, though the source of that name, which nobody needs, has one."""
    app = create_app(predictor("averaged"))
    prices = {source["name"]: source["price"] for source in ask(app, "GET", "/v1/model").json()["sources"]}
    answer = ask(app, "POST", "/v1/step", json={"values": {}}).json()
    assert (answer["next"], answer["next_cost"], answer["next_features"]) == ("age", 0, ["age"])
    assert prices["age"] == 0


def wide(n_features: int) -> BudgetPredictor:
    """A stump that looks at the last of many features."""
    stump = predictor("boosted").forest
    feature = np.where(stump.feature >= 0, n_features - 1, -1).astype(np.int32)
    forest = replace(
        stump,
        n_features=n_features,
        feature=feature,
        category_set=np.full_like(stump.category_set, -1),
        threshold=np.where(stump.feature >= 0, 0.5, np.nan),
    )
    assert isinstance(forest, Forest)
    return BudgetPredictor(forest)


def test_counters_stay_few():
    app = create_app(wide(MOST_SOURCES + 50))
    values = {f"x{k}": 1.0 for k in range(MOST_SOURCES + 50)}
    assert ask(app, "POST", "/v1/decide", json={"values": values}).json()["cost"] == 1
    for k in range(20):
        ask(app, "GET", f"/nowhere/{k}")
    text = ask(app, "GET", "/metrics").text
    assert text.count("budgetprune_sources_acquired_total{") == MOST_SOURCES + 1
    assert f'budgetprune_sources_acquired_total{{source="{OTHER}"}} 1.0' in text
    assert "/nowhere" not in text
    assert f'budgetprune_requests_total{{endpoint="{OTHER}",status="404"}} 20.0' in text


def test_values_of_features_that_no_split_tests_may_be_left_out():
    app = create_app(wide(5))
    assert ask(app, "POST", "/v1/decide", json={"values": {"x4": 1}}).status_code == 200
    check_refused(ask(app, "POST", "/v1/decide", json={"values": {"x3": 1}}), 422, "no value for 'x4'")


def test_two_apps_count_apart():
    one, other = (create_app(predictor("averaged")) for _ in range(2))
    ask(one, "POST", "/v1/decide", json={"values": COMPLETE})
    assert "budgetprune_decision_cost_count 1.0" in ask(one, "GET", "/metrics").text
    assert "budgetprune_decision_cost_count 0.0" in ask(other, "GET", "/metrics").text


def test_other_requests_are_answered_during_a_batch(monkeypatch):
    """With time slices of no length, a health check is answered before the batch that came first."""
    monkeypatch.setattr(scheduling, "TIME_SLICE", 0.0)
    app = create_app(predictor("classes"))
    order = []

    async def note(client, method, path, **options):
        response = await client.request(method, path, **options)
        assert response.status_code == 200
        order.append(path)

    async def go():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            body = {"rows": [{"values": row} for row in rows("classes", 100)]}
            batch = asyncio.create_task(note(client, "POST", "/v1/batch/decide", json=body))
            await asyncio.sleep(0)
            await note(client, "GET", "/healthz")
            await batch

    asyncio.run(go())
    assert order == ["/healthz", "/v1/batch/decide"]


def test_an_error_of_our_own_has_the_same_shape(monkeypatch):
    def broken(*_arguments, **_options):
        raise RuntimeError("secret")

    monkeypatch.setattr(BudgetPredictor, "step", broken)
    response = ask(create_app(predictor("averaged")), "POST", "/v1/step", json={"values": {}})
    check_refused(response, 500, "internal error")
    assert "secret" not in response.text


def test_limits_that_make_no_sense():
    with pytest.raises(InvalidInputError, match="batch_rows must be at least 1, not 0"):
        Limits(batch_rows=0)


def test_document_describes_this_model():
    schemas = ask(create_app(predictor("classes")), "GET", "/openapi.json").json()["components"]["schemas"]
    forest = predictor("classes").forest
    assert list(schemas["Values"]["properties"]) == [f"x{k}" for k in range(forest.n_features)]
    kinds = schemas["Values"]["properties"]["x0"]["type"]
    assert ("null" in kinds) == (forest.missing != "forbidden")
    assert "scan" in schemas["Source"]["enum"]
    assert schemas["StepBatch"]["properties"]["rows"]["maxItems"] == 1000
