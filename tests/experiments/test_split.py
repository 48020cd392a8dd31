"""Splits of rows into roles."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.errors import InvalidInputError
from budgetprune_experiments.split import shuffle_split


def test_rows_of_a_split_never_mix():
    X = np.arange(100, dtype=np.float32)[:, None]
    split = shuffle_split(X, np.arange(100) % 2, 3, n_train=40, n_val=30)
    numbers = [set(part.X[:, 0]) for part in (split.train, split.val, split.test)]
    assert [len(some) for some in numbers] == [40, 30, 30]
    assert set.union(*numbers) == set(range(100))
    assert set(split.train_and_val.X[:, 0]) == numbers[0] | numbers[1]
    other = shuffle_split(X, np.arange(100) % 2, 4, n_train=40, n_val=30, n_test=10)
    assert set(other.train.X[:, 0]) != numbers[0]
    assert len(other.test) == 10


def test_classes_that_nobody_can_learn_are_left_out():
    y = np.zeros(50, dtype=np.int64)
    y[7] = 1  # in one role only
    for seed in range(10):
        split = shuffle_split(np.zeros((50, 1)), y, seed, n_train=20, n_val=10)
        known = set(split.train.y)
        assert set(split.val.y) <= known
        assert set(split.test.y) <= known


def test_a_split_that_needs_more_rows_than_there_are():
    with pytest.raises(InvalidInputError, match="needs 21 rows, but there are 20"):
        shuffle_split(np.zeros((20, 1)), np.zeros(20), 0, n_train=15, n_val=5)
