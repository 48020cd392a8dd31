"""Two models or budgets side by side, in a real browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from budgetprune.report import OtherModel, summarise, to_json, write_page

from .models import COMPARED, OTHER, case


def columns(found):
    """Measures of both models, as shown."""
    rows = found.page.locator("#side tr")
    texts = rows.evaluate_all("all => all.map(row => [...row.children].map(cell => cell.textContent))")
    cleaned = [[text.replace("\u00a0", " ") for text in row] for row in texts]
    return [list(column) for column in zip(*cleaned, strict=True)]


@pytest.mark.parametrize("name", ["cancer", "three classes"])
def test_two_points(look, name):
    found = look(name)
    points, counting = found.stored["points"], found.stored["counting"]
    select = found.page.locator("#other")
    select.select_option("1")
    found.settle()
    own, other = found.point[counting], points[1][counting]
    assert columns(found) == [found.stored["fact_names"], own["facts"], other["facts"]]
    words = found.text("compare-words")
    assert points[1]["name"].lower() in words
    assert ("less than" if own["cost"] < other["cost"] else "more than") in words
    assert "random error at most ±" in words
    select.select_option(str(found.position))
    found.settle()
    assert "costs as much as your model, and is as good." in found.text("compare-words")
    assert "Both buy the same" in found.text("side-sources")


def test_the_recommended_point_is_compared_first(look):
    found = look("cancer")
    fresh = found.page.context.new_page()
    fresh.goto(found.page.url)
    assert fresh.locator("#other").input_value() == str(found.stored["recommended"])
    fresh.close()


@pytest.mark.parametrize("name", COMPARED)
def test_another_model(look, name):
    found = look(name)
    rival, counting = found.stored["rival"], found.stored["counting"]
    found.page.locator("#other").select_option("rival")
    found.settle()
    shown = rival[counting] or rival["decided"]
    assert columns(found)[2] == shown["facts"]
    assert found.text("compare-words") == shown["words"]["verdict"]
    assert found.text("side-other") == OTHER
    assert OTHER in found.page.locator("#curve .annotation-text").all_text_contents()
    found.press("Home")
    assert f"than {OTHER}" in found.text("compare-words")
    first = found.page.locator("#side-sources tr").first.locator("td, th").all_text_contents()
    assert first[0] in {source["name"] for source in rival["sources"]}


def test_a_staged_model_is_compared_with_decided_costs(browser, tmp_path):
    """It has no full cost, so the other one is counted in the same way."""
    found = case("wine")
    summary = summarise(found.model, found.X, found.y, other=OtherModel(found.model, found.X, OTHER))
    summary = replace(summary, rival=replace(summary.rival, kind="staged", full=None))
    write_page(summary, tmp_path / "page.html")
    page = browser.new_context().new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("input[name=counting][value=full]").is_checked()
    own = to_json(summary)["points"][summary.delivered]["decided"]
    shown = page.locator("#side td:nth-child(2)").all_text_contents()
    assert [text.replace("\u00a0", " ") for text in shown] == list(own["facts"])
    assert "Costs of both are counted until a row stops." in page.locator("#compare-words").text_content()
    page.context.close()


def test_who_stops_where(look):
    found = look("two classes")
    found.press("ArrowLeft")
    shown = found.page.locator("#who tr").evaluate_all("all => all.map(row => row.cells.length)")
    stages = [stage for stage in found.point["stages"] if stage["stops"] > 0]
    assert shown == [1 + len(found.stored["named_classes"])] * len(stages)
