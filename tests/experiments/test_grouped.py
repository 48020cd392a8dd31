"""Margins that leak nothing, descriptors that are paid for once, and what is said of the curves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from budgetprune.baselines import PlainForest
from budgetprune.errors import InvalidInputError
from budgetprune_experiments import Options, find_experiment
from budgetprune_experiments.descriptors import digits as _digits
from budgetprune_experiments.descriptors.digits import FEW, GroupedDigits, accuracies
from budgetprune_experiments.descriptors.margins import N_FOLDS, cross_fitted_margins
from budgetprune_experiments.methods import OURS_PAPER, UNPRUNED

N_CLASSES = FEW.n_classes


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the rows that it has seen, and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = dict(zip(X[:, 0].tolist(), y.tolist(), strict=True))
        return self

    def decision_function(self, X):
        return np.array([self.classes_ == self.seen_.get(x) for x in X[:, 0].tolist()], dtype=float)

    def predict(self, X):
        return self.classes_[self.decision_function(X).argmax(axis=1)]


def test_no_model_has_seen_the_training_rows_that_it_judges():
    X, y = np.arange(60.0)[:, None], np.arange(60) % 3
    new = np.arange(100.0, 110.0)[:, None]
    margins = cross_fitted_margins(X, y, [new, X[:7]], seed=0, model=Memory())
    assert margins.train.shape == (60, 3)
    assert not margins.train.any()
    assert not margins.others[0].any()
    # Other rows' margins are from a model that has seen all training rows.
    np.testing.assert_array_equal(margins.others[1].argmax(axis=1), y[:7])
    assert margins.others[1].any(axis=1).all()


def test_margins_of_noise_are_noise():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(120, 200)), np.arange(120) % 4
    margins = cross_fitted_margins(X, y, [X], seed=0)
    assert np.mean(margins.train.argmax(axis=1) == y) < 0.4
    assert np.mean(margins.others[0].argmax(axis=1) == y) == 1.0  # what the rows themselves would have said


def test_margins_of_what_can_be_learned():
    random = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = random.normal(size=(240, 5)) + 4 * np.eye(3, 5)[y]
    margins = cross_fitted_margins(X[:150], y[:150], [X[150:]], seed=0)
    assert np.mean(margins.train.argmax(axis=1) == y[:150]) > 0.9
    assert np.mean(margins.others[0].argmax(axis=1) == y[150:]) > 0.9


def test_classes_that_are_too_rare():
    y = np.repeat([0, 1, 2], [20, 20, N_FOLDS - 1])
    with pytest.raises(InvalidInputError, match=r"three classes or more.*the rarest has 4 rows"):
        cross_fitted_margins(np.zeros((y.size, 2)), y, [], seed=0)
    with pytest.raises(InvalidInputError, match="here are 2 classes"):
        cross_fitted_margins(np.zeros((40, 2)), np.arange(40) % 2, [], seed=0)


# --- Rows with prices ---------------------------------------------------------------------------------------


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


# --- What is said -------------------------------------------------------------------------------------------


def curve(method, points, **more):
    return [
        {"method": method, "seed": 0, "test_cost": cost, "test_score": score, "seconds_tuning": 1.0}
        | {"n_train": 5, "n_validation": 5, "n_test": 5, "setting": str(cost)}
        | more
        for cost, score in points
    ]


def test_the_claim_is_a_share_of_the_full_cost():
    records = [
        *curve(UNPRUNED, [(200.0, 0.95)]),
        *curve(OURS_PAPER, [(1.0, 0.10), (100.0, 0.96), (200.0, 0.96)]),
        *curve("CCP", [(10.0, 0.5), (200.0, 0.9)]),
    ]
    table = find_experiment("figure1d")._claim(records)
    # Along the line from (1, 0.10) to (100, 0.96), 0.95 is reached at 98.8 of 200, and 0.945 at 98.3.
    assert table.rows == [[OURS_PAPER, "49%", "49%"], ["CCP", None, None]]
    assert "28%" in table.note


def test_prices_are_settings(tmp_path):
    # Parts that were made with other prices do not fit together.
    options = Options(quick=True, out=tmp_path)
    experiment = find_experiment("figure1d")
    prices = experiment.settings(options)["prices"]
    assert [price["descriptor"] for price in prices] == [
        each.name for each in experiment.data(options).descriptors
    ]
    assert experiment.settings(options)["prices"] == prices
    assert find_experiment("subset-size").settings(options)["√K"]["prices"] == prices
    assert "of Scene15" in experiment.substitute(options)


def test_both_sizes_are_compared_at_the_same_costs(tmp_path):
    experiment = find_experiment("subset-size")
    options = Options(quick=True, out=tmp_path, repeats=2)
    keys = [part.key for part in experiment.parts(options)]
    assert f"seed 1, {OURS_PAPER}, √K" in keys
    assert f"seed 1, {OURS_PAPER}, 0.8 K" in keys
    assert experiment.settings(options)["0.8 K"]["forest"]["max_features"] == 0.8
    assert experiment.settings(options)["√K"]["forest"]["max_features"] == "sqrt"
    records = [
        *curve(UNPRUNED, [(100.0, 0.95)], subset="√K"),
        *curve(UNPRUNED, [(80.0, 0.94)], subset="0.8 K"),
        *curve("CCP", [(1.0, 0.01), (100.0, 1.0)], subset="√K"),
        *curve("CCP", [(1.0, 0.01), (40.0, 0.4)], subset="0.8 K"),
    ]
    together, *each = experiment.tables(records, options)
    assert together.columns[2:] == ["at 10", "at 20", "at 30", "at 50", "at 75"]
    assert together.rows == [
        ["CCP", "√K", "0.100", "0.200", "0.300", "0.500", "0.750"],
        ["CCP", "0.8 K", "0.100", "0.200", "0.300", "0.400", "0.400"],
    ]
    assert "√K: accuracy 0.950 at cost 100.0; 0.8 K: accuracy 0.940 at cost 80.0" in together.note
    assert [table.title.split(":")[0] for table in each] == [
        "Subsets of √K features",
        "Subsets of 0.8 K features",
    ]
