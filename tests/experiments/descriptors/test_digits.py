"""Digits whose descriptors are paid for once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from budgetprune.baselines import PlainForest
from budgetprune_experiments.descriptors import digits as _digits
from budgetprune_experiments.descriptors.digits import FEW, GroupedDigits, accuracies
from budgetprune_experiments.descriptors.margins import cross_fitted_margins

N_CLASSES = FEW.n_classes


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return GroupedDigits(tmp_path_factory.mktemp("digits"), quick=True)


@pytest.fixture(scope="module")
def split(digits):
    return digits.split(0)


def test_roles_and_columns(digits, split):
    n_columns = N_CLASSES * len(digits.descriptors)
    assert [rows.X.shape for rows in (split.train, split.val, split.test)] == [
        (80, n_columns),
        (40, n_columns),
        (40, n_columns),
    ]
    labels = digits.images[1]
    together = np.concatenate([split.train.y, split.val.y, split.test.y])
    np.testing.assert_array_equal(np.sort(together), np.sort(labels))
    # The third descriptor's columns are its margins of rows that it was not trained on.
    rows = np.random.default_rng(0).permutation(160)
    values = digits.values()[2]
    margins = cross_fitted_margins(
        values[rows[:80]], labels[rows[:80]], [values[rows[80:120]], values[rows[120:]]], seed=0
    )
    np.testing.assert_allclose(split.train.X[:, 8:12], margins.train)
    np.testing.assert_allclose(split.test.X[:, 8:12], margins.others[1])


def test_margins_are_made_once(digits, split, monkeypatch):
    monkeypatch.setattr(_digits, "cross_fitted_margins", None)
    monkeypatch.setattr(_digits, "describe", None)
    again = GroupedDigits(digits.folder.parent, quick=True)
    np.testing.assert_array_equal(again.split(0).val.X, split.val.X)
    assert again.prices == digits.prices


def test_accuracy_of_each_descriptor_alone(digits, split):
    alone = accuracies(split, len(digits.descriptors))
    wrong = np.sum(split.test.X[:, 12:16].argmax(axis=1) != split.test.y)
    assert alone["test"][3] == pytest.approx(1 - wrong / 40)
    assert max(alone["test"]) > 0.8
    assert alone["train"].shape == (len(digits.descriptors),)


def test_a_descriptor_is_paid_for_once(digits, split):
    table = split.costs.resolve(split.train.X.shape[1])
    assert table.source_names == tuple(each.name for each in digits.descriptors)
    of = np.arange(split.train.X.shape[1]) // N_CLASSES
    for some in ([1], [1, 3]):
        # A tree that sees these descriptors only; they are so weak that it needs many of their columns.
        X = np.where(np.isin(of, some), split.train.X, 0)
        model = PlainForest(DecisionTreeClassifier(random_state=0), costs=split.costs).fit(X, split.train.y)
        used = np.unique(model.forest_.feature[model.forest_.is_split])
        assert used.size > 2 * len(some)
        price = [digits.prices[k].price for k in some]
        cost = model.acquisition_cost(split.train.X)
        assert cost.max() == pytest.approx(sum(price))
        assert set(np.round(cost, 6)) <= {round(p, 6) for p in [*price, sum(price)]}
