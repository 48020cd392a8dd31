"""Values of rows by feature name."""

from __future__ import annotations

import pytest

from budgetprune.report.measure.values import named_values

from ..models import case


def test_categories_instead_of_codes():
    found = case("categories")
    forest = found.predictor.forest
    rows = forest.prepare_rows(found.X)
    for i in range(20):
        values = named_values(forest, rows[i])
        assert values["colour"] == found.X["colour"].iloc[i]
        assert values["size"] == pytest.approx(found.X["size"].iloc[i], nan_ok=True)
    unknown = found.X.iloc[:1].assign(colour="mauve")
    assert named_values(forest, forest.prepare_rows(unknown)[0])["colour"] is None
