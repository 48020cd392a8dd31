"""Code in the documentation runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .blocks import run_blocks

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "```python" in page.read_text(encoding="utf-8"))
# Needs a service that runs; its own tests do the same dialogue.
ELSEWHERE = {"serving.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run_in_their_order(page, tmp_path, monkeypatch):
    """Python in one namespace, and commands in the same folder, as a reader would type them."""
    if page.name in ELSEWHERE:
        pytest.skip("run by the tests of the service")
    monkeypatch.chdir(tmp_path)
    run_blocks(page.read_text(encoding="utf-8"), page.name)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
