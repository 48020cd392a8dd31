"""The page of a staged model in a real browser."""

from __future__ import annotations

import json

import pytest

from .look import DESKTOP, PHONE, contrast
from .models import HOSTILE

NAMES = ("three classes", "two classes", "numbers", "staged, hostile")


def flows(found):
    """Widths of the parts of each bar, in per cent: stopped before, stop here, go on."""
    return found.page.locator("#stages .flow").evaluate_all(
        "all => all.map(bar => [...bar.children].map(part => parseFloat(part.style.width)))"
    )


def test_it_opens_at_the_delivered_model(look):
    found = look("three classes")
    assert found.position == found.stored["delivered"]
    assert found.text("name") == "Your model"
    words = found.point["decided"]["words"]
    for name in ("verdict", "stages", "next", "bought", "wrong", "use"):
        assert found.text(f"{name}-words") == words[name]
    assert found.text("command") == words["command"]
    assert float(found.text("total")) == pytest.approx(
        found.point["decided"]["cost"] + found.point["decided"]["loss"], rel=0.01
    )


@pytest.mark.parametrize("name", ["three classes", "two classes", "numbers"])
def test_the_slider_moves_stages_and_sources(look, name):
    found = look(name)
    seen = set()
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        found.press(key)
        stages = found.point["stages"]
        assert len(flows(found)) == len(stages)
        for widths, stage in zip(flows(found), stages, strict=True):
            expected = [1 - stage["reached"], stage["stops"], stage["reached"] - stage["stops"]]
            assert widths == pytest.approx([100 * share for share in expected], abs=0.01)
        n_next = sum(stage["next"] is not None for stage in stages)
        assert found.page.locator("#next tr").count() == n_next
        rules = found.page.locator("#stages td:last-child").all_inner_texts()
        assert [text.replace("\u00a0", " ") for text in rules] == [stage["rule"] for stage in stages]
        n_bought = sum(share > 0 for share in found.point["decided"]["bought"]["of_rows"])
        has_others = len(found.stored["sources"]) > n_bought
        assert found.page.locator("#sources tr").count() == n_bought + has_others
        assert found.text("command") == found.point["decided"]["words"]["command"]
        seen.add((found.text("cost"), found.text("stages"), found.text("next"), found.text("sources")))
    assert len(seen) >= 3


def test_stories_are_those_of_the_delivered_model(look):
    found = look("two classes")
    before = found.text("stories")
    for story in found.stored["stories"]:
        for step in story["steps"]:
            assert step["why"] in before
    found.press("Home")
    assert found.text("stories") == before


def test_the_mouse_finds_points(look):
    found = look("numbers")
    found.press("Home")
    page = found.page
    page.locator("#curve").evaluate("e => e.scrollIntoView({ block: 'center' })")
    x, y = page.locator("#curve").evaluate(
        """e => {
            const star = [...e.querySelectorAll('.scatterlayer .trace')].at(-2);
            const box = star.querySelector('path.point').getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        }"""
    )
    page.mouse.move(x, y)
    found.wait_for("document.querySelector('#curve .hoverlayer').textContent !== ''")
    page.mouse.click(x, y)
    found.wait_for(f"Number(document.getElementById('slider').value) === {found.stored['delivered']}")


def test_what_is_read_out(look):
    found = look("three classes")
    found.press("End")
    expected = json.dumps(found.point["decided"]["words"]["verdict"])
    found.wait_for(f"document.getElementById('live').textContent === {expected}")
    labels = found.page.locator("[role=img]").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-label'))"
    )
    assert len(labels) > 5
    assert all(labels)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_the_screen(look, name):
    found = look(name)
    for width, key in [(1280, "End"), (768, "Home"), (375, "End"), (375, "Home"), (320, "ArrowRight")]:
        found.page.set_viewport_size({"width": width, "height": 740})
        found.press(key)
        assert found.too_wide() == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("name", ["two classes", "numbers"])
def test_the_curve_shows_the_point_in_use(look, name, size):
    """With its error bar, whatever is left outside."""
    found = look(name, size)
    unit = 100 if name == "two classes" else 1
    for key in ("Home", "ArrowRight", "End"):
        found.press(key)
        layout = "document.getElementById('curve')._fullLayout"
        low, high = found.page.evaluate(f"{layout}.yaxis.range")
        left, right = found.page.evaluate(f"{layout}.xaxis.range")
        outcome = found.point["decided"]
        score, error = unit * outcome["score"], unit * 1.96 * outcome["score_error"]
        assert low <= score - error < min(score + error, 100 if unit == 100 else 2) <= high
        assert left < outcome["cost"] < right


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(look, scheme):
    found = look("two classes", scheme=scheme)
    paper = found.colour("body", "backgroundColor")
    selectors = (
        "h1",
        "#cost",
        "#stages th",
        "#stages .price",
        "#next .small",
        ".single .number",
        "#stages .n",
    )
    for selector in (*selectors, ".notes"):
        assert contrast(found.colour(selector), paper) >= 4.5, selector
    for selector in (".story h3", ".story .values", ".story .why", ".story .tag"):
        assert contrast(found.colour(selector), found.colour(".story", "backgroundColor")) >= 4.5, selector
    card = found.colour(".cards article", "backgroundColor")
    for selector in ("#use-words", "#recommendation", ".copy"):
        assert contrast(found.colour(selector), card) >= 4.5, selector
    assert contrast(found.colour("#command"), found.colour("#command", "backgroundColor")) >= 4.5


def test_names_from_data_stay_text(look):
    found = look("staged, hostile")
    assert found.page.locator("b[onclick]").count() == 0
    assert found.page.locator("img").count() == 0
    visible = " ".join(HOSTILE.split())
    for place in ("#sources th", "#stages th", ".story .values"):
        shown = found.page.locator(place).all_inner_texts()
        assert any(visible in " ".join(words.split()) for words in shown), place
    found.press("End", "Home")


def test_paper(look):
    found = look("three classes")
    page = found.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    width = page.evaluate("document.getElementById('main').clientWidth")
    assert page.locator("#curve .main-svg").first.evaluate("e => e.clientWidth") <= min(width, 680)
    assert not page.locator("#slider").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    found.settle()
    assert page.locator("#slider").is_visible()
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
