"""The page is one self-contained file, and names from data are escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from budgetprune.report import render, summarise, to_json, write_page

from .models import HOSTILE, case

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

PRUNED = ("cancer", "diabetes", "hostile")
STAGED = ("three classes", "numbers", "staged, hostile")


class Page(HTMLParser):
    """Elements, scripts and text of a page, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[str | None, str]] = []
        self.text: list[str] = []
        self._within: str | None = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._within = tag if tag in ("script", "style") else None
        if tag == "script":
            self.scripts.append((dict(attributes).get("type"), ""))

    def handle_endtag(self, tag):
        self._within = None

    def handle_data(self, data):
        if self._within == "script":
            kind, before = self.scripts[-1]
            self.scripts[-1] = kind, before + data
        elif self._within is None:
            self.text.append(data)

    def stored(self):
        (data,) = [script for kind, script in self.scripts if kind == "application/json"]
        return json.loads(data)


@pytest.fixture(scope="module")
def pages():
    def made(name):
        found = case(name)
        summary = summarise(found.model, found.X, found.y, unit="EUR", title="")
        return summary, render(summary)

    return {name: made(name) for name in (*PRUNED, *STAGED)}


@pytest.mark.parametrize("name", [*PRUNED, *STAGED])
def test_the_page_holds_the_same_summary(pages, name):
    summary, page = pages[name]
    assert Page(page).stored() == json.loads(json.dumps(to_json(summary)))


@pytest.mark.parametrize(("name", "other"), [("hostile", "cancer"), ("staged, hostile", "three classes")])
def test_names_from_data_stay_text(pages, name, other):
    summary, text = pages[name]
    assert any(source.name == HOSTILE for source in summary.sources)
    page = Page(text)
    usual = Page(pages[other][1])
    assert len(page.scripts) == len(usual.scripts)
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in usual.elements}
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert any(HOSTILE in words for words in page.text)
    assert "49" not in to_json(summary)["title"]


@pytest.mark.parametrize("name", ["cancer", "diabetes", *STAGED])
def test_nothing_is_loaded(pages, name):
    page = Page(pages[name][1])
    for tag, attributes in page.elements:
        for key in ("src", "href", "action", "data", "poster", "srcset"):
            if attributes.get(key) is not None:
                assert attributes[key].startswith(("#", "data:")), (tag, attributes)
    (policy,) = [
        attributes["content"]
        for _, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    hashes = set(re.findall(r"'sha256-([^']+)'", policy))
    scripts = [script for kind, script in page.scripts if kind is None]
    assert len(scripts) == 3
    assert hashes == {base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts}


@pytest.mark.parametrize("name", ["cancer", *STAGED])
def test_headings_landmarks_and_names(pages, name):
    page = Page(pages[name][1])
    tags = [tag for tag, _ in page.elements]
    for landmark in ("header", "main", "footer", "h1"):
        assert landmark in tags
    assert tags.count("h1") == tags.count("main") == 1
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.elements:
        if tag == "section":
            assert attributes["aria-labelledby"] in ids
        if tag == "input" and attributes["type"] == "range":
            assert attributes["aria-label"]


@pytest.mark.parametrize("name", ["cancer", "three classes", "numbers"])
def test_all_points_are_in_the_table(pages, name):
    summary, text = pages[name]
    page = Page(text)
    rows = [
        attributes for tag, attributes in page.elements if tag == "th" and attributes.get("scope") == "row"
    ]
    assert len(rows) == len(summary.points)
    for point in to_json(summary)["points"]:
        assert point["name"] in page.text


def test_files_are_written_at_once(pages, tmp_path):
    summary, text = pages["diabetes"]
    write_page(summary, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    with pytest.raises(FileNotFoundError, match="no such folder"):
        write_page(summary, tmp_path / "nowhere" / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
