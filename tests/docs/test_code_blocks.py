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


def _check_pruning(names, folder):
    X, y = names["X_test"], names["y_test"]
    for estimator in (names["clf"], names["ours"], names["boosted"], names["model"]):
        assert estimator.score(X, y) > 0.85
    assert names["cheaper"].cost_ <= 2 < names["clf"].cost_ <= 3
    assert names["pruning"].cost <= 4
    assert names["pruning"].n_splits < names["path"].unpruned.n_splits
    assert names["problem"].certify(names["exact"]).gap < 1e-9
    for file in ("pruned.txt", "path.budgetprune"):
        assert (folder / file).exists()


def _check_deciding_early(names, folder):
    X, decision, simulation = names["X_test"], names["decision"], names["simulation"]
    assert decision.decided
    assert decision.label == names["clf"].predict(X[:1])[0] == simulation.label[0]
    assert simulation.cost.mean() < names["clf"].acquisition_cost(X).mean()
    assert (folder / "model.budgetprune").exists()


def _check_pipelines(names, folder):
    X = names["X"]
    assert names["pruned"].source_names_ == ("age", "city", "income", "debt")
    for model in (names["pruned"], names["staged"]):
        assert model.score(X, names["y"]) > 0.7
        assert 0 < model.acquisition_cost(X).mean() < 7
    assert names["decision"].cost == sum(names["prices"][source] for source in names["decision"].acquired)
    assert (folder / "loan.budgetprune").exists()


# What the blocks of a page must have produced.
CHECKS = {
    "pruning.md": _check_pruning,
    "deciding-early.md": _check_deciding_early,
    "pipelines.md": _check_pipelines,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run_in_their_order(page, tmp_path, monkeypatch):
    """Python in one namespace, and commands in the same folder, as a reader would type them."""
    if page.name in ELSEWHERE:
        pytest.skip("run by the tests of the service")
    monkeypatch.chdir(tmp_path)
    names = run_blocks(page.read_text(encoding="utf-8"), page.name)
    if page.name in CHECKS:
        CHECKS[page.name](names, tmp_path)


def test_checked_pages_exist():
    assert set(CHECKS) <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
