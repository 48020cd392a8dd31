"""What the README says is true: its code runs, and what it points to is there."""

import re
from pathlib import Path

import pytest

from budgetprune import demo

from .blocks import run_blocks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_code_runs(tmp_path, monkeypatch):
    """All blocks in their order, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "output").mkdir()
    demo.write_tables(tmp_path / "output")
    assert README.count("```python\n") == 8
    names = run_blocks(README, "README.md")
    X, y = names["X_test"], names["y_test"]
    for estimator in (names["staged"], names["clf"], names["ours"], names["boosted"], names["model"]):
        assert estimator.score(X, y) > 0.85
    assert names["cheaper"].cost_ <= 2 < names["clf"].cost_ <= 3
    assert names["quick"].acquisition_cost(X).mean() <= names["staged"].acquisition_cost(X).mean()
    for file in ("cheaper.budgetprune", "predictions.csv", "pruned.txt", "path.npz", "model.budgetprune"):
        assert (tmp_path / file).exists()
    assert names["decision"].decided
    assert names["decision"].label == names["clf"].predict(X[:1])[0] == names["simulation"].label[0]
    assert names["simulation"].cost.mean() < names["clf"].acquisition_cost(X).mean()
    assert names["pruning"].cost <= 4
    assert names["pruning"].n_splits < names["path"].unpruned.n_splits
    assert names["problem"].certify(names["exact"]).gap < 1e-9


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_commands_exist(document):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = re.findall(r"\bmake ([\w-]+)", (ROOT / document).read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE), command


def test_places_exist():
    places = re.findall(r"`(src/[\w/.]+|[A-Z]+\.md|LICENSE)`", README)
    assert len(places) > 6
    for place in places:
        assert (ROOT / place).exists(), place


def test_pictures_exist():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).exists(), picture


def test_every_part_of_the_package_is_on_the_map():
    package = ROOT / "src" / "budgetprune"
    parts = {part.name for part in package.iterdir() if not part.name.startswith(("_", "."))}
    for part in parts - {"py.typed", "errors.py"}:
        assert f"src/budgetprune/{part}" in README, part
