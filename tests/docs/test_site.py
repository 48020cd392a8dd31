"""The documentation site: builds without warnings, has no broken links, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import budgetprune

ROOT = Path(__file__).parents[2]
# Attributes from which a browser loads something without a click.
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """Links, anchors and loaded resources of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect one element."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
            if (tag, name) in LOADED:
                self.loaded.append(value)
            if tag == "a" and name == "href":
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "WARNING" not in result.stdout + result.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """All pages of the site, parsed."""
    return {file: Page(file) for file in site.rglob("*.html") if file.name != "404.html"}


def test_internal_links_and_anchors_exist(pages):
    broken = []
    for file, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchors = pages[target].anchors if target in pages else {parts.fragment}
            # "__skip" is the theme's link to the top of a page.
            if not target.exists() or unquote(parts.fragment) not in {"", "__skip"} | anchors:
                broken.append((file.name, link))
    assert not broken


def test_nothing_is_loaded_from_elsewhere(site, pages):
    for file, page in pages.items():
        for resource in page.loaded:
            assert not urlsplit(resource).netloc, (file, resource)
        # The theme would load a library for these.
        assert "mermaid" not in file.read_text(encoding="utf-8"), file
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "@import" not in text, style
        assert "url(http" not in text, style
        assert "url(//" not in text, style


def test_reference_has_every_public_name(pages):
    anchors = set().union(*(page.anchors for page in pages.values()))
    for name in set(budgetprune.__all__) - {"__version__"}:
        assert f"budgetprune.{name}" in anchors, name


def test_reference_has_every_command(pages):
    from budgetprune.commands.app import build_app

    (commands,) = (page for file, page in pages.items() if file.name == "commands.html")
    for command in build_app().registered_commands:
        name = command.name or command.callback.__name__.replace("_", "-")
        assert f"budgetprune-{name}" in commands.anchors, name


def test_shared_sections_of_docstrings_are_filled_in(pages):
    for file in pages:
        assert "{parameters}" not in file.read_text(encoding="utf-8"), file
