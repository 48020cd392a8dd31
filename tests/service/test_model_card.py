"""What `GET /v1/model` tells, and the model files that clients may download."""

from __future__ import annotations

import asyncio
import mmap
import os
import re
import sys

import httpx
import pytest

from budgetprune import BudgetModel, InvalidInputError
from budgetprune.service import Access, ServedModel, create_app, offers
from budgetprune.service.documents import Model
from budgetprune.workflow import rebudget_model

from .models import GOLDEN, predictor
from .servers import PATIENCE, ask, check_refused, running

PRUNED, STAGED, ALONE = (GOLDEN / f"{name}.budgetprune" for name in ("with_path-2", "staged-3", "averaged-1"))
FILE = "/v1/model/file"


def card(model) -> dict:
    """The card, which has the form that the document says."""
    found = ask(create_app(model), "GET", "/v1/model").json()
    Model.model_validate(found, strict=True)
    return found


def test_a_pruned_model():
    model = BudgetModel.load(PRUNED)
    found = card(ServedModel.load(PRUNED, unit="EUR"))
    assert found["kind"] == "pruned"
    assert found["unit"] == "EUR"
    about = model.about
    origin = {name: getattr(about, name) for name in found["origin"]}
    assert found["origin"] == origin
    assert {"target", "created", "versions", "budget"} <= origin.keys()
    chosen = about.compared.chosen
    assert found["expected"] == {
        "cost": chosen.cost if chosen.decided_cost is None else chosen.decided_cost,
        "score": chosen.score,
        "rows": about.compared.rows,
    }
    costs = sorted(about.tradeoff["cost"])
    assert [point["cost"] for point in found["curve"]] == costs
    assert {(point["cost"], point["score"]) for point in found["curve"]} == set(
        zip(about.tradeoff["cost"], about.tradeoff["score"], strict=True)
    )
    assert found["stages"] is None
    assert found["file"] is None
    assert found["classes"] == model.predictor.forest.classes.tolist()


@pytest.mark.parametrize("name", ["staged-3", "staged_regression-3", "staged_scored-3"])
def test_a_staged_model(name):
    file = GOLDEN / f"{name}.budgetprune"
    staged = BudgetModel.load(file).predictor.model
    found = card(ServedModel.load(file))
    assert found["kind"] == "staged"
    assert found["unit"] is None
    assert found["origin"] is None
    assert [stage["sources"] for stage in found["stages"]] == [
        list(stage.sources) for stage in staged.stages()
    ]
    assert sum(stage["stops"] for stage in found["stages"]) == pytest.approx(1)
    curve = staged.trade_off
    assert [point["cost"] for point in found["curve"]] == curve.cost.tolist()
    assert found["expected"]["cost"] == curve.cost[staged.point]
    assert found["expected"]["score"] == curve.score[staged.point]
    assert found["expected"]["rows"] == "cross-fitted"


def test_a_predictor_alone():
    found = card(predictor("averaged"))
    assert found["kind"] == "pruned"
    assert all(found[name] is None for name in ("origin", "expected", "stages", "curve", "file", "unit"))
    assert found["total_price"] == sum(source["price"] for source in found["sources"] if source["features"])


# --- The file -----------------------------------------------------------------------------------------------


def loaded(response: httpx.Response, tmp_path) -> BudgetModel:
    assert response.status_code == 200, response.text
    (tmp_path / "got").write_bytes(response.content)
    return BudgetModel.load(tmp_path / "got")


def test_the_file_is_offered_only_if_said():
    app = create_app(ServedModel.load(PRUNED))
    assert ask(app, "GET", FILE).status_code == 404
    assert FILE not in ask(app, "GET", "/openapi.json").json()["paths"]
    app = create_app(ServedModel.load(PRUNED, offer=True))
    assert "get" in ask(app, "GET", "/openapi.json").json()["paths"][FILE]


def test_the_file_as_it_is():
    model = ServedModel.load(STAGED, offer=True)
    assert card(model)["file"] == {"path": FILE, "bytes": STAGED.stat().st_size, "has_budgets": True}
    response = ask(create_app(model), "GET", FILE)
    assert response.content == STAGED.read_bytes()
    assert response.headers["content-disposition"] == 'attachment; filename="staged-3.budgetprune"'
    assert response.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize(("file", "budget"), [(PRUNED, 3.0), (STAGED, 1.0)], ids=["pruned", "staged"])
def test_other_budgets(file, budget, tmp_path):
    """The file is that of `rebudget`."""
    app = create_app(ServedModel.load(file, offer=True))
    response = ask(app, "GET", f"{FILE}?budget={budget:g}")
    name = f'filename="{file.stem}-budget-{budget:g}.budgetprune"'
    assert name in response.headers["content-disposition"]
    found, expected = loaded(response, tmp_path), rebudget_model(BudgetModel.load(file), budget)
    expected.save(tmp_path / "expected")
    assert response.content == (tmp_path / "expected").read_bytes()
    assert found.predictor.forest.n_splits < BudgetModel.load(file).predictor.forest.n_splits


def test_a_budget_that_is_too_small():
    response = ask(create_app(ServedModel.load(PRUNED, offer=True)), "GET", f"{FILE}?budget=0.1")
    check_refused(
        response, 422, "a budget of 0.1 is too small for this model: its cheapest useful point costs 2.5"
    )


@pytest.mark.parametrize("query", ["", "x", "-1", "nan", "inf", "1e999", "1&budget=2", "1;2", "1,5"])
def test_budgets_that_are_none(query):
    response = ask(create_app(ServedModel.load(PRUNED, offer=True)), "GET", f"{FILE}?budget={query}")
    check_refused(response, 422, "budget must be one number of at least 0")


def test_a_file_without_a_path():
    model = ServedModel.load(ALONE, offer=True)
    assert not card(model)["file"]["has_budgets"]
    check_refused(ask(create_app(model), "GET", f"{FILE}?budget=3"), 422, "has one budget only")


def test_few_models_are_made_and_kept(monkeypatch):
    made = []

    async def make(self, budget):
        made.append(budget)
        return self._file

    monkeypatch.setattr(offers.Offers, "_make", make)
    app = create_app(ServedModel.load(PRUNED, offer=True))
    for budget in (1, 1, 2, 3, 1.0):
        assert ask(app, "GET", f"{FILE}?budget={budget}").status_code == 200
    assert made == [1, 2, 3]
    for budget in range(10, 10 + offers.MOST_KEPT):
        ask(app, "GET", f"{FILE}?budget={budget}")
    ask(app, "GET", f"{FILE}?budget=1")
    assert made[-1] == 1


def test_a_model_that_takes_too_long(monkeypatch):
    monkeypatch.setattr(offers, "TIME_LIMIT", 0.01)
    response = ask(create_app(ServedModel.load(PRUNED, offer=True)), "GET", f"{FILE}?budget=3")
    check_refused(response, 503, "took too long")


def test_files_need_a_token():
    token = "a-token-for-the-file"
    app = create_app(ServedModel.load(PRUNED, offer=True), access=Access(tokens=[token]))
    assert ask(app, "GET", FILE).status_code == 401
    assert ask(app, "GET", FILE, headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_names_of_files_cannot_break_headers(tmp_path):
    file = tmp_path / 'ä"\r\nx: y.budgetprune'
    try:
        file.write_bytes(PRUNED.read_bytes())
    except OSError:
        pytest.skip("no such names here")
    response = ask(create_app(ServedModel.load(file, offer=True)), "GET", FILE)
    assert re.fullmatch(r'attachment; filename="[\w.-]+"', response.headers["content-disposition"])
    assert "x" not in response.headers


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    from budgetprune.service import served

    file = tmp_path / "m.budgetprune"
    file.write_bytes(PRUNED.read_bytes())
    usual = served.open_sections

    def slow(name):
        other = tmp_path / "other"
        other.write_bytes(STAGED.read_bytes())
        os.replace(other, file)
        return usual(name)

    monkeypatch.setattr(served, "open_sections", slow)
    with pytest.raises(InvalidInputError, match="changed while it was read"):
        ServedModel.load(file, offer=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot share the socket")
def test_workers_offer_the_file_as_it_was(tmp_path):
    """Also after it was replaced; other requests are answered while another model is made."""
    file = tmp_path / "m.budgetprune"
    file.write_bytes(STAGED.read_bytes())
    with running(file, "--workers", "2", "--offer-model", "--unit", "EUR") as service:
        file.write_bytes(PRUNED.read_bytes())
        for _ in range(4):
            got = httpx.get(service.url + FILE, timeout=PATIENCE)
            assert got.content == STAGED.read_bytes()
        with httpx.Client(base_url=service.url, timeout=PATIENCE) as client:
            assert client.get("/v1/model").json()["unit"] == "EUR"
            other = client.get(f"{FILE}?budget=1")
        assert loaded(other, tmp_path).predictor.model.point == 1
        assert service.end() == 0


def test_large_files_are_sent_in_parts(tmp_path):
    content = os.urandom(3 * offers.AT_ONCE + 17)
    with (tmp_path / "large").open("w+b") as file:
        file.write(content)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    parts = []

    async def receive():
        raise AssertionError

    async def send(message):
        parts.append(message.get("body", b""))

    asyncio.run(offers.MappedResponse(mapped, "x")({"type": "http"}, receive, send))
    assert b"".join(parts) == content
    assert max(map(len, parts)) == offers.AT_ONCE
