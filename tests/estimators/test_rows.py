"""Honest rows: training rows grow trees, validation rows count costs and choose."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.selection import LabelledRows, halves, split_rows
from budgetprune.selection.duplicates import MOST_COPIES, number_duplicates

from .rows import Recorder, draw, sources_by_walking

PLAIN = {"refit": None, "error": "in-bag", "loss": "misclassification", "random_state": 0}


def small_forest():
    return RandomForestClassifier(5, max_depth=4, random_state=0)


# --- Dividing -----------------------------------------------------------------------------------------------


@st.composite
def labelled_rows(draw):
    n_rows = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, draw(st.integers(1, 5)), n_rows)
    X = np.arange(n_rows, dtype=float)[:, np.newaxis]
    if draw(st.booleans()):
        take = rng.integers(0, n_rows, n_rows)
        X, y = X[take], y[take]
    weight = rng.integers(1, 5, n_rows).astype(float) if draw(st.booleans()) else None
    qid = rng.integers(0, 12, n_rows) if draw(st.booleans()) else None
    return LabelledRows(X, y, weight, qid)


def divided(rows, share, seed, by_class=True):
    try:
        return split_rows(rows, share, np.random.RandomState(seed), by_class=by_class)
    except InvalidInputError:
        return None


@settings(max_examples=200, deadline=None)
@given(labelled_rows(), st.floats(0.05, 0.95), st.integers(0, 1000), st.booleans())
def test_division_keeps_together_what_belongs_together(rows, share, seed, by_class):
    parts = divided(rows, share, seed, by_class)
    if parts is None:
        return
    train, val = parts
    assert len(train) + len(val) == len(rows)
    assert sorted([*train.X[:, 0], *val.X[:, 0]]) == sorted(rows.X[:, 0])
    if by_class:
        assert set(train.y) == set(rows.y)
    if rows.qid is not None:
        assert not set(train.qid) & set(val.qid)
    elif len(np.unique(rows.X)) * MOST_COPIES >= len(rows):
        assert not set(train.X[:, 0]) & set(val.X[:, 0])
    # What belongs to a row stays with it.
    for part in parts:
        for i in range(len(part)):
            twins = rows.X[:, 0] == part.X[i, 0]
            assert part.y[i] in rows.y[twins]
            assert rows.weight is None or part.weight[i] in rows.weight[twins]
            assert rows.qid is None or part.qid[i] in rows.qid[twins]


@settings(max_examples=100, deadline=None)
@given(st.integers(20, 200), st.integers(1, 4), st.floats(0.1, 0.9), st.integers(0, 1000))
def test_shares_are_right_in_each_class(n_rows, n_classes, share, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    parts = divided(LabelledRows(np.arange(n_rows)[:, np.newaxis], y), share, seed)
    if parts is None:
        return
    _, val = parts
    # One row of each class stays in any case.
    assert abs(len(val) - min(share * n_rows, n_rows - len(np.unique(y)))) <= 0.5 + n_classes * (share > 0.5)
    for label in np.unique(y):
        assert abs((val.y == label).sum() - share * (y == label).sum()) <= 1.5 + n_classes / 2


def test_classes_with_two_rows_can_be_judged():
    y = np.repeat(np.arange(10), 2)
    train, val = divided(LabelledRows(np.arange(20)[:, np.newaxis], y), 0.3, 0)
    assert len(val) == 6
    assert len(set(val.y)) == 6
    assert set(train.y) == set(y)


def test_weights_count_as_rows():
    """A heavy row is as much of the share as many light ones."""
    weight = np.ones(101)
    weight[0] = 100.0
    rows = LabelledRows(np.arange(101)[:, np.newaxis], np.zeros(101), weight)
    for seed in range(10):
        train, val = divided(rows, 0.3, seed)
        light = train if val.weight.max() == 100 else val
        assert val.weight.sum() == pytest.approx(60 if light is val else 100, abs=50.5)
    drawn = {len(divided(rows, 0.3, seed)[1]) for seed in range(10)}
    assert drawn != {30}


def test_repeating_a_row_is_weighing_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    weight = rng.integers(1, 4, 40)
    order = rng.permutation(40)
    _, weighed = divided(LabelledRows(X[order], y[order], weight[order].astype(float)), 0.3, 5)
    _, repeated = divided(LabelledRows(X.repeat(weight, axis=0), y.repeat(weight)), 0.3, 5)
    expected = sorted(x for x, w in zip(weighed.X[:, 0], weighed.weight, strict=True) for _ in range(int(w)))
    assert sorted(repeated.X[:, 0]) == expected


@settings(max_examples=100, deadline=None)
@given(labelled_rows(), st.integers(0, 1000), st.booleans())
def test_halves_take_turns(rows, seed, by_class):
    unit = number_duplicates(rows.X, rows.y) if rows.qid is None else rows.qid
    if len(np.unique(unit)) == 1:
        assert halves(rows, np.random.RandomState(seed), by_class=by_class) == []
        return
    (one, other), (again, once_more) = halves(rows, np.random.RandomState(seed), by_class=by_class)
    assert np.array_equal(one, once_more)
    assert np.array_equal(other, again)
    assert sorted([*one, *other]) == list(range(len(rows)))
    assert one.size
    assert other.size
    if rows.qid is not None:
        assert not set(rows.qid[one]) & set(rows.qid[other])


def test_rows_that_cannot_be_divided():
    rows = LabelledRows(np.arange(3)[:, np.newaxis], np.arange(3))
    with pytest.raises(InvalidInputError, match=r"n_samples=3: too few rows to keep 30% .* pass X_val"):
        split_rows(rows, 0.3, np.random.RandomState(0), by_class=True)
    rows = LabelledRows(np.arange(9)[:, np.newaxis], np.arange(9) % 2, None, np.zeros(9))
    with pytest.raises(InvalidInputError, match="too few queries"):
        split_rows(rows, 0.3, np.random.RandomState(0), by_class=True)
    assert halves(rows, np.random.RandomState(0), by_class=False) == []


# --- Copies -------------------------------------------------------------------------------------------------

CONTAINERS = {
    "array": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "bool": lambda X: X.astype(bool),
    "fortran": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "pandas": lambda X: pd.DataFrame(X),
    "nullable": lambda X: pd.DataFrame(X, dtype="Int64"),
    "category": lambda X: pd.DataFrame(X).astype(str).astype("category"),
    "polars": lambda X: pl.DataFrame(X),
    "text": lambda X: pl.DataFrame(X).cast(pl.String),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("y_type", [int, str, float])
def test_copies_are_found_in_whatever_holds_rows(container, y_type):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 5)).astype(float), rng.integers(0, 2, 60)
    expected = np.unique(np.c_[X, y], axis=0, return_inverse=True)[1].ravel()
    found = number_duplicates(CONTAINERS[container](X), y.astype(y_type))
    assert np.array_equal(found[:, np.newaxis] == found, expected[:, np.newaxis] == expected)


def test_explicit_zeros_and_their_signs_do_not_matter():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])
    y = np.zeros(3)
    written = sparse.csr_array((np.array([0.0, 1.0, 1.0, 1.0]), [0, 1, 1, 0], [0, 2, 3, 4]), (3, 2))
    for rows in (X, written):
        a, b, c = number_duplicates(rows, y)
        assert a == b != c


def test_cells_of_a_table_are_not_copies():
    X = np.arange(100)[:, np.newaxis] % 8
    assert np.array_equal(np.sort(number_duplicates(X, np.zeros(100))), np.arange(100))


# --- What fit does with the rows ----------------------------------------------------------------------------


@pytest.mark.parametrize("explicit", [False, True])
def test_only_validation_rows_count_costs(explicit):
    X, y = draw()
    X_val, y_val = draw(120, seed=1)
    extra = {"X_val": X_val, "y_val": y_val} if explicit else {}
    seen = []
    model = BudgetPruneClassifier(small_forest(), budget=2.0, **PLAIN)
    original = RandomForestClassifier.fit

    def fit(self, rows, labels, sample_weight=None):
        seen.append(rows)
        return original(self, rows, labels, sample_weight)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RandomForestClassifier, "fit", fit)
        model.fit(X, y, **extra)
    (train,) = seen
    if explicit:
        assert np.array_equal(train, X)
        val = X_val
    else:
        trained = {tuple(row) for row in train}
        val = np.array([row for row in X if tuple(row) not in trained])
        assert len(val) == 90
        assert len(train) == 210
    cost = sources_by_walking(model.forest_, model._prices, val).sum(axis=1).mean()
    assert model.cost_ == pytest.approx(cost)


@pytest.mark.parametrize("refit", [None, "squared"])
def test_choices_are_judged_by_each_validation_row_once_per_fold_and_by_no_training_row(refit):
    X, y = draw()
    X_val, y_val = draw(80, seed=1)
    scorer = Recorder()
    model = BudgetPruneClassifier(small_forest(), refit=refit, scoring=scorer, random_state=0)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    (one, n_one), (other, n_other) = Counter(tuple(map(tuple, rows)) for rows in scorer.rows).items()
    if refit is None:  # what refits gain along the path is measured on one half
        assert n_one == n_other
    assert sorted(one + other) == sorted(map(tuple, X_val))
    assert len(model.choices_.trials) > 1


def test_copies_of_a_row_do_not_judge_trees_that_have_seen_them():
    """Labels are noise: whoever has seen a copy knows its label, nobody else can."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(150, 4)), 3, axis=0), np.repeat(rng.integers(0, 2, 150), 3)
    model = BudgetPruneClassifier(RandomForestClassifier(10), lam=0.0, **PLAIN).fit(X, y)
    assert model.tradeoff_.score[0] < 0.7
    assert model.score(X, y) > 0.75


def test_queries_are_never_divided():
    X, y = draw(240)
    qid = np.arange(240) % 24
    X[:, 5] = qid
    scorer = Recorder()
    BudgetPruneClassifier(small_forest(), scoring=scorer, **PLAIN).fit(X, y, qid=qid)
    one, other = {tuple(rows[:, 5]) for rows in scorer.rows}
    assert not set(one) & set(other)
    assert set(Counter(one + other).values()) == {10}
    assert len(one + other) == 10 * round(0.3 * 24)


def test_rows_without_weight_are_no_rows():
    X, y = draw()
    weight = np.ones(300)
    weight[::3] = 0
    few = weight > 0
    models = [
        BudgetPruneClassifier(small_forest(), budget=3.0, **PLAIN).fit(*rows)
        for rows in ((X, y, weight), (X[few], y[few], weight[few]))
    ]
    assert np.array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_few_validation_rows_choose_nothing():
    X, y = draw(40)
    with pytest.warns(BudgetWarning, match="12 validation rows are too few to choose anything by"):
        model = BudgetPruneClassifier(RandomForestClassifier(4), random_state=0).fit(X, y)
    assert np.isnan(model.tradeoff_.score).all()
    assert model.refit_ is None
    assert model.lambda_ == 0.0


def test_regressors_divide_by_chance_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    model = BudgetPruneRegressor(
        RandomForestRegressor(3), lam=0.0, refit=None, error="in-bag", validation_fraction=0.4
    ).fit(X, y)
    assert len(model.estimator_.estimators_samples_[0]) == 60
