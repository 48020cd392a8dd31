"""Pages in a real browser, for tests of both kinds of reports."""

from __future__ import annotations

import json
import os

import pytest

from budgetprune.report import OtherModel, summarise, to_json, write_page

from .browser import find_browser
from .look import DESKTOP, PATIENCE, Look
from .models import COMPARED, HOSTILE, OTHER, case, other_model


@pytest.fixture(scope="module")
def browser():
    """A browser for one module: while it runs, no other test of this process can start an event loop."""
    pytest.importorskip("plotly")
    pytest.importorskip("jinja2")
    playwright = pytest.importorskip("playwright.sync_api")
    path = find_browser()
    if path is None and os.environ.get("BUDGETPRUNE_BROWSER_TESTS") != "required":
        pytest.skip("no browser is installed: make test-browser gets one")
    with playwright.sync_playwright() as running:
        # Containers have no user namespaces for the sandbox, and little shared memory.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        made = running.chromium.launch(executable_path=path, args=arguments, timeout=PATIENCE)
        yield made
        made.close()


@pytest.fixture(scope="module")
def open_page(browser, tmp_path_factory):
    """Each page is opened once in light and once in dark."""
    folder = tmp_path_factory.mktemp("pages")
    opened: dict[tuple[str, str], Look] = {}

    def write(name: str) -> dict:
        stored = folder / f"{name}.json"
        if not stored.exists():
            found, unit = case(name), HOSTILE if "hostile" in name else "EUR"
            other = OtherModel(other_model(name).model, found.X, OTHER) if name in COMPARED else None
            summary = summarise(found.model, found.X, found.y, unit=unit, other=other)
            write_page(summary, folder / f"{name}.html")
            stored.write_text(json.dumps(to_json(summary)), encoding="utf-8")
        return json.loads(stored.read_text(encoding="utf-8"))

    def made(name: str, scheme: str) -> Look:
        stored = write(name)
        context = browser.new_context(viewport=DESKTOP, color_scheme=scheme)
        found = Look(context.new_page(), stored)
        page = found.page
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (found.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: found.requests.append(request.url))
        page.goto((folder / f"{name}.html").as_uri())
        found.wait_for("document.documentElement.dataset.ready === 'yes'")
        return found

    def find(name: str, scheme: str = "light") -> Look:
        if (name, scheme) not in opened:
            opened[name, scheme] = made(name, scheme)
        return opened[name, scheme]

    return find


@pytest.fixture
def look(open_page):
    """Open pages as they are at first; at the end, none may have complained or asked for anything."""
    used: list[Look] = []

    def find(name: str, size: dict = DESKTOP, scheme: str = "light") -> Look:
        found = open_page(name, scheme)
        used.append(found)
        found.page.set_viewport_size(size)
        if "model" not in found.stored:  # pruned ones have two ways to count
            found.page.locator(f"input[name=counting][value={found.stored['counting']}]").check()
        if found.page.locator("#back").is_enabled():
            found.page.locator("#back").click()
        found.settle()
        return found

    yield find
    for found in used:
        assert found.complaints == []
        outside = [url for url in found.requests[1:] if not url.startswith(("data:", "blob:"))]
        assert outside == []
