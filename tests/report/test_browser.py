"""The page in a real browser: it moves, it says the same everywhere, and it talks to nobody."""

from __future__ import annotations

import json
import re

import pytest

from .look import DESKTOP, PHONE, contrast
from .models import HOSTILE

NAMES = ("cancer", "diabetes", "hostile", "wide")


def share(part):
    """A share as the page shows it."""
    return "< 1 %" if 0 < part < 0.005 else "> 99 %" if 0.995 < part < 1 else f"{100 * part:.0f} %"


def test_it_opens_at_the_delivered_model(look):
    found = look("cancer")
    assert found.position == found.stored["delivered"]
    assert found.text("name") == "Your model"
    words = found.point["decided"]["words"]
    for name in ("verdict", "spread", "bought", "wrong"):
        assert found.text(f"{name}-words") == words[name]
    assert found.page.locator("#back").is_disabled()


def test_the_slider_moves_the_numbers(look):
    found = look("cancer")
    seen = set()
    for key in ("Home", "ArrowRight", "End"):
        found.press(key)
        assert found.text("name") == found.point["name"]
        outcome = found.point["decided"]
        assert found.text("verdict-words") == outcome["words"]["verdict"]
        assert found.text("score") == f"{100 * outcome['score']:.1f} %"
        assert float(found.text("cost")) == pytest.approx(outcome["cost"], rel=0.01)
        assert found.text("more-words") == outcome["words"]["more"]
        assert found.text("tree-words") == found.point["tree"]
        shares = found.page.locator("#sources tr td:nth-child(2) .number.after").all_inner_texts()
        assert len(shares) == len(outcome["bought"]["sources"])
        counts = found.page.locator("#matrix td:not(.share)").all_inner_texts()
        assert list(map(int, counts)) == [count for row in outcome["confusion"] for count in row]
        seen.add((found.text("cost"), found.text("tree-words"), tuple(shares), found.text("stories")))
    assert len(seen) == 3


@pytest.mark.parametrize("name", ["cancer", "diabetes"])
def test_no_line_crosses_where_there_is_no_model(look, name):
    """A budget between two models gives the cheaper one, so all lines are steps."""
    lines = (
        look(name)
        .page.locator("#curve .scatterlayer .js-line")
        .evaluate_all("all => all.map(e => e.getAttribute('d'))")
    )
    assert len(lines) >= 2
    for line in lines:
        assert re.fullmatch(r"M[-\d.]+,[-\d.]+([HV][-\d.]+)+", line)


def test_the_recommended_point_is_one_click_away(look):
    found = look("cancer")
    recommended = found.stored["recommended"]
    assert recommended not in (None, found.stored["delivered"])
    assert found.text("recommendation") == found.stored["recommendation"]
    found.page.locator("#recommended-go").click()
    found.settle()
    assert found.position == recommended
    assert found.page.locator("#recommended").is_disabled()
    assert "recommended" in found.page.locator("#curve .annotation-text").all_text_contents()


def test_every_point_has_its_command(look):
    found = look("cancer")
    found.press("ArrowRight")
    words = found.point["decided"]["words"]
    assert words["command"].startswith("budgetprune rebudget MODEL --budget")
    assert (found.text("command"), found.text("refit-command")) == (words["command"], words["refit_command"])
    found.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = found.page.locator("button[data-of=command]")
    button.click()
    found.wait_for("document.querySelector('button[data-of=command]').textContent === 'Copied'")
    assert found.page.evaluate("navigator.clipboard.readText()") == words["command"]
    assert found.page.locator("#download").is_hidden()
    found.press("End")
    assert found.page.locator("#command").is_hidden()


def test_measures_of_probabilities(look):
    found = look("cancer")
    for key in ("Home", "End"):
        found.press(key)
        outcome = found.point["decided"]
        assert found.text("probability-words") == outcome["probability_words"]
        shares = found.page.locator("#matrix .share").all_inner_texts()
        expected = [each["recall"] for each in outcome["by_class"]]
        expected += [each["precision"] for each in outcome["by_class"]]
        shown = [text.replace("\u00a0", " ") for text in shares if "%" in text or text == "–"]
        assert shown == ["–" if each is None else share(each) for each in expected]
        dots = found.page.locator("#calibration .scatterlayer path.point").count()
        assert dots == len(outcome["probabilities"]["calibration"]["n_rows"])


def test_prices_keep_their_cents(look):
    """Also in the example rows, where they add up."""
    found = look("biopsy")
    assert {"20.68", "0.51", "2.1"} == {
        text.removeprefix(", ") for text in found.page.locator("#sources .price").all_inner_texts()
    }
    assert "+20.68" in found.text("stories")
    found.press("End")
    assert re.search(r"now \d+\.\d\d\b", found.text("stories"))
    for source, cost in zip(
        found.point["full"]["bought"]["sources"], found.point["full"]["bought"]["cost"], strict=True
    ):
        assert cost <= found.stored["sources"][source]["price"]


def test_values_are_not_shown_before_they_are_paid_for(look):
    found = look("biopsy")
    found.press("End")
    first = found.page.locator(".story").first.locator("li")
    texts = [" ".join(text.split()) for text in first.all_inner_texts()]
    biopsy = next(text for text in texts if text.startswith("biopsy"))
    assert re.fullmatch(r"biopsy \+2\.1( mean radius [\d.]+)?", biopsy)


def test_keys(look):
    found = look("cancer")
    last = len(found.stored["points"]) - 1
    found.press("End")
    assert found.position == last
    assert found.text("name") == "Whole forest"
    found.press("Home")
    assert found.position == 0
    assert found.text("cost") == "0"
    found.press("ArrowRight", "ArrowUp")
    assert found.position == 2
    found.press("ArrowLeft")
    slider = found.page.locator("#slider")
    assert slider.get_attribute("aria-valuetext") == found.point["decided"]["words"]["value"]
    assert found.page.evaluate("document.activeElement.id") == "slider"
    found.page.keyboard.press("Tab")
    assert found.page.evaluate("document.activeElement.id") == "back"
    found.page.keyboard.press("Enter")
    found.settle()
    assert found.position == found.stored["delivered"]


def test_the_mouse_finds_points(look):
    found = look("cancer")
    found.press("Home")
    found.page.locator("#more-go").click()
    found.settle()
    assert found.position == found.stored["points"][0]["decided"]["more"]["point"]
    page, whole = found.page, found.stored["points"][-1]["full"]
    page.locator("#curve").evaluate("e => e.scrollIntoView({ block: 'center' })")
    marks = page.locator("#curve .scatterlayer .trace", has=page.locator("path.point"))
    box = marks.nth(2).bounding_box()  # the first mark above the two lines is the whole forest
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    found.wait_for("document.querySelector('#curve .hoverlayer').textContent !== ''")
    before = found.position
    page.mouse.click(x, y)
    found.wait_for(f"Number(document.getElementById('slider').value) !== {before}")
    assert found.point["full"]["cost"] == pytest.approx(whole["cost"], rel=0.02)


def test_both_ways_to_count(look):
    found = look("cancer")
    found.press("End")
    decided = found.text("cost")
    found.page.locator("input[name=counting][value=full]").check()
    found.settle()
    assert found.text("verdict-words") == found.point["full"]["words"]["verdict"]
    assert float(found.text("cost")) > float(decided)


def test_what_is_read_out(look):
    found = look("cancer")
    for key in ("Home", "End"):
        found.press(key)
        expected = json.dumps(found.point["decided"]["words"]["verdict"])
        found.wait_for(f"document.getElementById('live').textContent === {expected}")
    labels = found.page.locator("[role=img]").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-label'))"
    )
    assert len(labels) > 5
    assert all(labels)
    assert found.point["decided"]["words"]["value"] in labels[0]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_the_screen(look, name):
    found = look(name)
    for width, key in [(1280, "End"), (768, "Home"), (375, "End"), (375, "Home"), (320, "ArrowRight")]:
        found.page.set_viewport_size({"width": width, "height": 740})
        found.press(key)
        assert found.too_wide() == []
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width


def test_charts_are_as_wide_as_their_place(look):
    found = look("cancer", PHONE)
    for turn in ({"width": 740, "height": 375}, PHONE):
        found.page.set_viewport_size(turn)
        found.wait_for(
            """() => ['curve', 'spread'].every(id => {
                const chart = document.getElementById(id);
                return Math.abs(chart.querySelector('.main-svg').clientWidth - chart.clientWidth) <= 1;
            })"""
        )


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_labels_of_the_tree_lie_between_its_branches(look, size):
    for name in ("cancer", "wide"):
        n_labels, n_crossed = look(name, size).page.evaluate(
            """() => {
                const paths = [...document.querySelectorAll('#tree path')].map(e => e.getAttribute('d'));
                const ways = paths.flatMap(d => d.split('M')).filter(Boolean);
                const down = ways.map(way => way.split(/[HQV ]/).slice(-3).map(Number));
                const boxes = [...document.querySelectorAll('#tree text')].map(e => e.getBBox());
                return [boxes.length, boxes.filter(b => down.some(([x, from, to]) =>
                    x > b.x && x < b.x + b.width && from < b.y + b.height && to > b.y + 4)).length];
            }"""
        )
        assert n_crossed == 0 < n_labels


@pytest.mark.parametrize("name", ["cancer", "diabetes"])
def test_the_curve_has_room_for_everything(look, name):
    """No label lies on the budget, no error bar leaves the chart."""
    found = look(name, PHONE)
    covered = found.page.evaluate(
        """() => {
            const all = what => [...document.querySelectorAll(`#curve ${what}`)];
            const box = e => e.getBoundingClientRect();
            const budget = all('.shapelayer path').map(box).find(line => line.width < 3);
            const isOn = e => box(e).left < budget.right && box(e).right > budget.left;
            return all('.annotation-text').filter(isOn).map(e => e.textContent);
        }"""
    )
    assert covered == []
    unit = 100 if name == "cancer" else 1
    for key in ("Home", "ArrowRight", "End"):
        found.press(key)
        low, high = found.page.evaluate("document.getElementById('curve')._fullLayout.yaxis.range")
        outcome = found.point[found.stored["counting"]]
        score, error = unit * outcome["score"], unit * 1.96 * outcome["score_error"]
        assert low <= score - error < min(score + error, 100) <= high


def test_what_is_counted_is_said(look):
    found = look("cancer", PHONE)
    assert found.text("usage").split()[-8:] == ["never", "tested", "1", "to", "7", "times", "more", "often"]
    assert "until decided" not in found.text("stories")
    found.page.locator("input[name=counting][value=full]").check()
    found.settle()
    assert found.text("stories").count("EUR until decided.") == len(found.stored["stories"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(look, scheme):
    found = look("cancer", scheme=scheme)
    paper = found.colour("body", "backgroundColor")
    is_dark = sum(map(int, re.findall(r"\d+", paper)[:3])) < 300
    assert is_dark == (scheme == "dark")
    assert found.page.locator("#theme").get_attribute("aria-pressed") == str(is_dark).lower()
    for selector in ("h1", ".facts", "#cost", "#cost-before", "#name", ".notes", "summary", ".number.before"):
        assert contrast(found.colour(selector), paper) >= 4.5, selector
    for selector in (".story h3", ".story .values", ".story .scale"):
        assert contrast(found.colour(selector), found.colour(".story", "backgroundColor")) >= 4.5, selector
    for label in ("#curve .xtick text", "#curve .annotation-text", "#spread .xtick text"):
        assert contrast(found.colour(label, "fill"), paper) >= 4.5, label


def test_the_system_may_change_its_mind(look):
    found = look("cancer")
    light = found.colour("#curve .xtick text", "fill")
    found.page.emulate_media(color_scheme="dark")
    found.wait_for("document.documentElement.dataset.theme === 'dark'")
    found.settle()
    assert found.page.locator("#theme").get_attribute("aria-pressed") == "true"
    assert found.colour("#curve .xtick text", "fill") != light
    found.page.emulate_media(color_scheme="light")
    found.wait_for("document.documentElement.dataset.theme === 'light'")


def test_the_toggle_beats_the_system(look):
    found = look("cancer", scheme="dark")
    dark, label = found.colour("body", "backgroundColor"), found.colour("#curve .xtick text", "fill")
    found.page.locator("#theme").click()
    found.settle()
    assert found.colour("body", "backgroundColor") != dark
    assert found.colour("#curve .xtick text", "fill") != label
    assert found.page.locator("#theme").get_attribute("aria-pressed") == "false"
    found.page.locator("#theme").click()
    found.settle()
    assert found.colour("body", "backgroundColor") == dark


def test_names_from_data_stay_text(look):
    found = look("hostile")
    assert found.page.locator("b[onclick]").count() == 0
    assert found.page.locator("img").count() == 0
    shown = found.page.locator("#sources th").all_inner_texts()
    visible = " ".join(HOSTILE.split())
    assert any(visible in " ".join(words.split()) for words in shown)
    assert "</script><b onclick" in found.page.locator("#curve .xtitle").text_content()
    found.press("End", "Home")


def test_numbers_instead_of_labels(look):
    found = look("diabetes")
    assert found.page.locator("#matrix").count() == 0
    bars = found.page.locator("#residuals .bars path")
    assert bars.count() == len(found.stored["residual_edges"]) - 1
    before = bars.evaluate_all("all => all.map(e => e.getAttribute('d')).join()")
    found.press("Home")
    assert bars.evaluate_all("all => all.map(e => e.getAttribute('d')).join()") != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper(look, scheme):
    """Charts fit, the ink is dark, and controls are left out."""
    found = look("cancer", scheme=scheme)
    page = found.page
    page.emulate_media(media="print", color_scheme=scheme)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    width = page.evaluate("document.getElementById('main').clientWidth")
    for chart in ("curve", "spread"):
        assert page.locator(f"#{chart} .main-svg").first.evaluate("e => e.clientWidth") <= min(width, 680)
    assert contrast(found.colour("#curve .xtick text", "fill"), "rgb(255, 255, 255)") >= 4.5
    assert contrast(found.colour("#verdict-words"), "rgb(255, 255, 255)") >= 4.5
    assert not page.locator("#slider").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme=scheme)
    found.settle()
    assert page.locator("#slider").is_visible()
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
