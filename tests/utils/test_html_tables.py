"""HTML tables of notebooks: complete, short and escaped."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune import BudgetClassifier, BudgetPruneClassifier, FeatureCosts
from budgetprune.utils.html_tables import MOST_ROWS, html_table


class Reader(HTMLParser):
    """Rows of a table as lists of strings; raises unless all elements are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.rows, self.caption, self.bold = [], [], "", 0
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ("table", "caption", "thead", "tbody", "tr", "th", "td")
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        self.bold += tag == "td" and "bold" in dict(attrs)["style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


def test_text_is_escaped():
    found = Reader(html_table("<i>a & b", {"<b>n": ["<script>alert(1)</script>"], "x": [np.nan]}))
    assert found.caption == "<i>a & b"
    assert found.rows == [["<b>n", "x"], ["<script>alert(1)</script>", ""]]


@pytest.mark.parametrize("marked", [None, 0, 7, 99])
def test_long_tables_show_both_ends_and_the_marked_row(marked):
    found = Reader(html_table("all", {"k": np.arange(100)}, marked=marked))
    numbers = [int(row[0]) for row in found.rows[1:]]
    assert numbers == sorted(set(numbers))
    assert {0, 99} <= set(numbers)
    assert MOST_ROWS <= len(numbers) <= MOST_ROWS + 1
    assert found.caption == f"all; {len(numbers)} of 100 rows"
    assert found.bold == (marked is not None)
    assert marked is None or marked in numbers


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, X[:, 0] + X[:, 1] > 0


def test_pruned_models(rows):
    model = BudgetPruneClassifier(RandomForestClassifier(5, random_state=0), random_state=0).fit(*rows)
    path, curve = Reader(model.path_._repr_html_()), Reader(model.tradeoff_._repr_html_())
    assert path.rows[0] == ["cost", "error", "splits", "lam"]
    assert path.rows[1][2] == f"{model.path_.n_splits[0]:.4g}"
    assert path.rows[-1][0] == f"{model.path_.cost[-1]:.4g}"
    assert path.caption.startswith(repr(model.path_))
    assert curve.rows[1][0] == f"{model.tradeoff_.cost[0]:.4g}"
    assert curve.bold == 5


def test_staged_models(rows):
    X, y = rows
    costs = FeatureCosts.from_sources({"<lab> & co": 2.0, "x": 1.0}, {0: ["<lab> & co"], 1: ["x"], 2: ["x"]})
    model = BudgetClassifier(costs, learner="hist", cv=2, time_limit=0, random_state=0).fit(X, y)
    stages = Reader(model.stages_._repr_html_())
    assert len(stages.rows) == 1 + len(model.stages_)
    assert "<lab> & co" in {row[1] for row in stages.rows}
    assert repr(model.stages_).startswith("(StageShares(")
    assert model.stages_ == tuple(model.stages_)
    curve = Reader(model.tradeoff_._repr_html_())
    assert len(curve.rows) - 1 == min(len(model.tradeoff_), MOST_ROWS)
