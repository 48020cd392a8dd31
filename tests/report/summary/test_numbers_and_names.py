"""Summaries hold numbers, identifiers and names; words and pages need nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from budgetprune.report import render, to_json

from ..models import case, summary_of
from ..stored import read_back, texts_of

NAMES = ("cancer", "diabetes", "boosted", "categories", "three classes", "log loss", "numbers")
# Fields with identifiers: of a kind, a rule or a reason.
IDENTIFIERS = (
    "task",
    "score_name",
    "source_kind",
    "ensemble",
    "counting",
    "kind",
    "loss_kind",
    "rule",
    "reason",
)


def names_of(name: str) -> set[str]:
    """Names in the data: features, sources, categories, labels."""
    found = case(name)
    forest = found.model.path.forest if found.model.path else found.staged.all_trees()
    known = [c for each in forest.categories or () for c in each or ()]
    features = forest.feature_names or [f"x{k}" for k in range(forest.n_features)]
    classes = [] if forest.classes is None else forest.classes
    return {str(each) for each in (*features, *found.predictor.costs.source_names, *classes, *known)}


@pytest.mark.parametrize("name", NAMES)
def test_no_sentences(name):
    """Every string is a name in the data, an identifier, a number, or metadata of the model file."""
    names, about = names_of(name), case(name).model.about
    packages = () if about is None else (*about.versions, *about.versions.values())
    for path, text in texts_of(summary_of(name)):
        field = path.rpartition(".")[2]
        if text and (".origin" in path or field in ("version", "target")):
            assert field == "version" or text in (
                about.target,
                about.choices,
                about.created,
                about.model,
                *packages,
            )
        elif field in IDENTIFIERS:
            assert re.fullmatch(r"\w+( \w+){0,2}", text), (path, text)
        elif field == "budget":
            float(text)
        elif field == "model_name":
            assert text == "MODEL"
        else:
            assert text == "" or text in names, (path, text)


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_summary_gives_the_same_page(name):
    pytest.importorskip("plotly")
    pytest.importorskip("jinja2")
    summary = summary_of(name)
    again = read_back(summary)
    assert again == summary
    assert to_json(again) == to_json(summary)
    assert render(again) == render(summary)


def test_words_follow_the_summary():
    """A changed number changes the sentences, because nothing else is read."""
    summary = summary_of("cancer")
    changed = replace(summary, unit="minutes", ensemble="ensemble", title="Another title")
    content = to_json(changed)
    assert content["title"] == "Another title"
    assert "minutes" in content["headline"]
    assert "whole ensemble" in content["headline"]
