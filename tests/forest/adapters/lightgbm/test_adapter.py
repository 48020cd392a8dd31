"""Conventions of LightGBM: names, threads, files."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.forest.registry import ADAPTERS

from .zoo import SMALL

ADAPTER = ADAPTERS.find("lightgbm")
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > X[:, 1]).astype(int)


def train(**options):
    return lightgbm.train({**SMALL, "objective": "binary"}, lightgbm.Dataset(X, Y, **options), 3)


def test_names_are_stored_as_lightgbm_stores_them():
    names = ["a b", "c", " d  e"]
    assert [ADAPTER.stored_name(name) for name in names] == train(feature_name=names).feature_name()


def test_labels_stay():
    labels, classes = ADAPTER.encode_labels(Y)
    assert labels is Y
    assert classes is None


def test_a_model_without_a_number_of_threads_gets_few_for_little_data():
    model = lightgbm.LGBMClassifier()
    with ADAPTER.training(model, X):
        assert model.n_jobs == 1
    assert model.n_jobs is None


def test_what_is_saved_loads_and_passes_the_checks():
    content = ADAPTER.reader.save(train())
    ADAPTER.check_content(content)
    ADAPTER.check_saved(content)
    assert np.array_equal(ADAPTER.reader.load(content).predict(X), train().predict(X))


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"{}", "not a model that LightGBM saved"), (b"tree\nversion=v4\n", "damaged or incomplete")],
)
def test_other_content_is_refused(content, words):
    with pytest.raises(InvalidInputError, match=words):
        ADAPTER.check_content(content)
