"""Division of rows into training and validation rows, and into halves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetprune.errors import InvalidInputError
from budgetprune.selection import LabelledRows, halves, split_rows
from budgetprune.selection.duplicates import MAX_COPIES, number_duplicates


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
    elif len(np.unique(rows.X)) * MAX_COPIES >= len(rows):
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
