"""README and map of the package: code runs, figures are those of the results, links and places exist."""

import re
import tomllib
from pathlib import Path

import pytest

from budgetprune import demo

from .blocks import run_blocks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_code_runs(tmp_path, monkeypatch):
    """Run all blocks in order, and compare the titles of the printed tables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "output").mkdir()
    demo.write_tables(tmp_path / "output")
    assert README.count("```python\n") == 1
    outputs: list[str] = []
    names = run_blocks(README, "README.md", outputs)
    X, y = names["X_test"], names["y_test"]
    assert names["staged"].score(X, y) > 0.85
    assert names["quick"].acquisition_cost(X).mean() <= names["staged"].acquisition_cost(X).mean()
    for file in ("diagnosis.budgetprune", "staged.budgetprune"):
        assert (tmp_path / file).exists()
    (shown,) = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
    titles = [line for line in shown.splitlines() if not line.startswith(" ")]
    assert len(titles) == 3
    for title in titles:
        assert title in outputs[0], title


def test_length():
    assert len(README.splitlines()) <= 95


def test_figures_are_those_of_the_results():
    """Each row of the table has the values of the same method on the page of results."""
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    start, stop = results.index("<!-- figure1a -->"), results.index("<!-- /figure1a -->")
    section = results[start:stop]
    methods = {
        "BudgetPrune (the paper)": "BudgetPrune (the paper)",
        "CEGB, lazy (LightGBM's feature costs)": "CEGB, lazy",
        "budgetprune: forest, refitted, decided early": "ours: decided early",
        "budgetprune: staged": "ours: staged",
        "cascade of LightGBM models": "cascade",
    }
    for shown, method in methods.items():
        ours = _cells(README, shown)
        theirs = _cells(section, method)
        expected = [f"{theirs[k].split()[0]} %" for k in (0, 1, 3)] + [theirs[7]]
        assert ours == expected, method


def _cells(page: str, first: str) -> list[str]:
    (line,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", page, flags=re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


@pytest.mark.parametrize(
    "document", ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/benchmarks.md"]
)
def test_commands_exist(document):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = re.findall(r"\bmake ([\w-]+)", (ROOT / document).read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE), command


@pytest.mark.parametrize(("page", "fewest"), [(README, 3), (ARCHITECTURE, 25)], ids=["readme", "map"])
def test_places_exist(page, fewest):
    places = re.findall(r"`((?:src|experiments|benchmarks|tests)/[\w/.]*|[A-Z]+\.md|LICENSE)`", page)
    assert len(places) >= fewest
    for place in places:
        assert (ROOT / place).exists(), place


def test_pictures_and_links_exist():
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", README)
    assert "docs/demo.png" in targets
    assert len(targets) > 6
    for target in targets:
        assert (ROOT / target).exists(), target


def test_every_part_of_the_package_is_on_the_map():
    package = ROOT / "src" / "budgetprune"
    parts = {part.name for part in package.iterdir() if not part.name.startswith(("_", "."))}
    for part in parts - {"py.typed"}:
        assert re.search(rf"`src/budgetprune/{re.escape(part)}/?`", ARCHITECTURE), part


def test_layers_are_those_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    (shown,) = re.findall(r"```text\n(__main__\n.*?)```", ARCHITECTURE, flags=re.DOTALL)
    assert shown.splitlines() == [layer.replace(" | ", ", ") for layer in layers]
