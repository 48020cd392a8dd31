"""No violation of accessibility rules: axe-core in a real browser, in both themes, on desktops and phones."""

from __future__ import annotations

import os
from importlib import resources

import pytest

from .look import DESKTOP, PHONE

NAMES = ("biopsy", "diabetes", "wide", "three classes", "two classes", "numbers")


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core."""
    if os.environ.get("BUDGETPRUNE_BROWSER_TESTS") != "required":
        pytest.importorskip("axe_playwright_python")
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(found, axe: str) -> list[str]:
    """Rules that the page breaks, with the elements."""
    found.page.evaluate(axe)
    result = found.page.evaluate("() => axe.run()")
    assert len(result["passes"]) > 20
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:120]}: {node.get('failureSummary', '')[:300]}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_no_violations(look, axe, name, scheme, size):
    found = look(name, size, scheme)
    details = "all => all.forEach(each => { each.open = %s; })"
    found.page.locator("details").evaluate_all(details % "true")
    assert violations(found, axe) == []
    found.press("End")
    assert violations(found, axe) == []
    found.page.locator("details").evaluate_all(details % "false")
