"""Routing of many rows together, compared with a slow implementation that routes one row after the other."""

from dataclasses import replace

import numpy as np
import pytest

from budgetprune.forest import routing as _routing
from budgetprune.forest.kernels import columns32, columns64
from budgetprune.forest.packed import ZERO
from budgetprune.forest.routing import chunk_bounds

pytestmark = pytest.mark.uncompiled


def slow_leaf(forest, row, h):
    while forest.feature[h] >= 0:
        x, s = row[forest.feature[h]], forest.category_set[h]
        is_zero = forest.missing == "nan-or-zero" and s < 0 and abs(x) <= ZERO
        if np.isnan(x) or is_zero:
            left = forest.missing_left[h]
        elif s >= 0:
            words = forest.category_bits[forest.category_start[s] : forest.category_start[s + 1]]
            left = 0 <= x < 32 * words.size and int(words[int(x) // 32]) >> int(x) % 32 & 1
        else:
            left = x <= forest.threshold[h]
        h = forest.left[h] if left else forest.right[h]
    return h


def slow_leaves(forest, rows):
    return [[slow_leaf(forest, row, root) for root in forest.tree_start[:-1]] for row in rows]


@pytest.fixture
def forest(variant):
    return variant


@pytest.fixture
def rows(variant_rows):
    return variant_rows


@pytest.mark.parametrize("n_rows", [1, 2, 5, 200])
def test_rows_go_together_where_they_go_alone(forest, rows, n_rows):
    assert forest.apply(rows[:n_rows]).tolist() == slow_leaves(forest, rows[:n_rows])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 3), (15, 1), (16, 2), (17, 4), (32, 5), (45, 3)])
def test_columns_are_those_of_the_rows(shape, dtype):
    rows = np.random.default_rng(0).normal(size=shape).astype(dtype)
    columns = (columns32 if dtype is np.float32 else columns64)(rows)
    assert columns.dtype == dtype
    assert np.array_equal(columns, rows.T)


@pytest.mark.parametrize("n_rows", [1, 200])
def test_leaves_by_tree_are_those_of_apply(forest, rows, n_rows):
    leaves = forest.leaves_by_tree(forest.prepare_rows(rows[:n_rows]))
    assert leaves.flags.c_contiguous
    assert np.array_equal(leaves, forest.apply(rows[:n_rows]).T)


def test_values_are_added_in_the_order_of_the_trees(forest, rows):
    value = np.random.default_rng(1).normal(size=forest.value.shape) * 10.0 ** np.arange(3)
    forest = replace(forest, value=value, base=[0.1, 0.2, 0.3], divisor=3.0)
    total = np.tile(forest.base, (len(rows), 1))
    for leaf in forest.apply(rows).T:
        total = total + value[leaf]
    assert forest.scores(rows).tolist() == (total / 3.0).tolist()


def test_each_tree_can_feed_its_own_output(forest, rows):
    output = np.arange(forest.n_trees) % 2
    forest = replace(forest, tree_output=output, base=[0.1, 0.2, 0.3])
    total = np.tile(forest.base, (len(rows), 1))
    for k, leaf in zip(output, forest.apply(rows).T, strict=True):
        total[:, k] += forest.value[leaf, 0]
    assert forest.scores(rows).tolist() == (total / forest.divisor).tolist()


def test_no_bit_depends_on_how_rows_are_divided(forest, rows, monkeypatch):
    leaves, scores = forest.apply(rows), forest.scores(rows)
    monkeypatch.setattr(_routing, "CHUNK", 3)
    monkeypatch.setattr(_routing, "LARGE_CHUNK", 3)
    assert len(chunk_bounds(len(rows), 3)) > len(rows) // 4
    assert np.array_equal(forest.apply(rows), leaves)
    assert np.array_equal(forest.leaves_by_tree(forest.prepare_rows(rows)), leaves.T)
    assert np.array_equal(forest.scores(rows), scores)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("n_rows", [1, 2, 6, 7, 8, 99, 100, 1000])
def test_chunks_hold_every_row_once_and_as_many_as_their_neighbours(n_rows, n_threads, monkeypatch):
    monkeypatch.setattr(_routing, "FEWEST_ROWS_OF_THREADS", 1)
    monkeypatch.setattr(_routing, "kernel_thread_count", lambda: n_threads)
    bounds = chunk_bounds(n_rows, 10)
    sizes = np.diff(bounds)
    assert (bounds[0], bounds[-1]) == (0, n_rows)
    assert 1 <= sizes.min() <= sizes.max() <= min(10, sizes.min() + 1)
    assert sizes.size % n_threads == 0 or sizes.size == n_rows
