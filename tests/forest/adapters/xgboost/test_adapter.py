"""Conventions of XGBoost: labels, files."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost

from budgetprune import InvalidInputError
from budgetprune.forest.registry import ADAPTERS

ADAPTER = ADAPTERS.find("xgboost")
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > X[:, 1]).astype(int)


def test_labels_are_numbered():
    y = np.array(["no", "yes", "maybe", "no"])
    numbers, classes = ADAPTER.encode_labels(y)
    assert numbers.tolist() == [1, 2, 0, 1]
    assert np.array_equal(classes[numbers], y)


def test_names_stay():
    assert ADAPTER.stored_name("a b") == "a b"


@pytest.mark.parametrize("form", ["json", "ubj"])
def test_what_is_saved_loads_and_passes_the_checks(form):
    booster = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, Y), 3)
    content = bytes(booster.save_raw(form))
    ADAPTER.check_content(content)
    again = ADAPTER.reader.load(content)
    ADAPTER.check_saved(ADAPTER.reader.save(again))
    rows = xgboost.DMatrix(X)
    assert np.array_equal(again.predict(rows), booster.predict(rows))


def test_other_content_is_refused():
    with pytest.raises(InvalidInputError, match="not a model that XGBoost saved"):
        ADAPTER.check_content(b"tree\n")
