"""Options, progress and errors of `summarise`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.report import ReportOptions, forest_of, summarise

from .models import case


def test_progress():
    found, told = case("wine"), []
    summarise(found.model, found.X, found.y, n_examples=0, progress=lambda *done: told.append(done))
    n_models = len(found.model.path) + 2
    assert told == [(n, n_models) for n in range(1, n_models + 1)]


def test_progress_and_errors_of_a_staged_model():
    found, seen = case("numbers"), []
    summary = summarise(
        found.model, found.X, found.y, progress=lambda done, total: seen.append((done, total))
    )
    n = len(summary.points)
    assert seen == [(k, n) for k in range(1, n + 1)]
    with pytest.raises(InvalidInputError, match="240 rows, but 3 targets"):
        summarise(found.model, found.X, found.y[:3])
    with pytest.raises(InvalidInputError, match="the same in all rows"):
        summarise(found.model, found.X, np.ones(len(found.y)))


def test_a_model_without_a_path():
    found = case("wine")
    with pytest.raises(InvalidInputError, match=r"no path with it.*budgetprune fit"):
        summarise(replace(found.model, path=None), found.X, found.y)


@pytest.mark.parametrize("wrong", [{"n_examples": -1}, {"max_rows": 0}])
def test_invalid_options(wrong):
    found = case("wine")
    with pytest.raises(InvalidInputError, match="must be at least"):
        summarise(found.model, found.X, found.y, **wrong)


def test_rows_need_the_columns_of_all_chains():
    forest = forest_of(case("three classes").model)
    tested = {forest.feature_names[k] for k in np.unique(forest.feature[forest.is_split])}
    assert tested == {"age", "TSH", "T3", "Größe", "town"}


def test_options_and_settings():
    found = case("wine")
    options = ReportOptions(title="A title", n_examples=1)
    summary = summarise(found.model, found.X, found.y, options, unit="EUR", progress=None)
    assert (summary.title, summary.unit, len(summary.examples)) == ("A title", "EUR", 1)
    with pytest.raises(TypeError, match="colour"):
        summarise(found.model, found.X, found.y, colour="red")


def test_deprecated_name_of_the_number_of_examples():
    found = case("wine")
    with pytest.warns(DeprecationWarning, match="use n_examples"):
        summary = summarise(found.model, found.X, found.y, n_stories=1)
    assert len(summary.examples) == 1
