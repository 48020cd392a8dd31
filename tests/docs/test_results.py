"""The page with results has every experiment, as it was run in full."""

import re
from pathlib import Path

import pytest

from budgetprune_experiments import NAMES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_has_its_tables(name):
    start, stop = PAGE.index(f"<!-- {name} -->"), PAGE.index(f"<!-- /{name} -->")
    section = PAGE[start:stop]
    assert f"`budgetprune reproduce {name}`" in section
    assert re.search(r"^\| ---", section, flags=re.MULTILINE)
    assert "Quick run" not in section


def test_figures_are_there():
    figures = re.findall(r"!\[.*?\]\((.*?)\)", PAGE)
    assert len(figures) == len(NAMES)
    for figure in figures:
        assert (DOCS / figure).read_bytes().startswith(b"\x89PNG"), figure


def test_numbers_of_the_paper_are_beside_ours():
    for claim in ("42.0", "24.3", "6.6", "6.7", "18", "30 %", "9 ", "32"):
        assert claim in PAGE, claim
