"""Which rows reach which node, against a walk down the trees."""

from dataclasses import replace

import numpy as np
import pytest

from budgetprune.problem import PruningProblem
from budgetprune.problem.rows import route

pytestmark = pytest.mark.uncompiled


def rows_of(problem, h):
    return problem.order[problem.forest.tree_of_node[h], problem.row_start[h] : problem.row_stop[h]]


def test_ranges_are_the_rows_that_pass(case, twins):
    problem = PruningProblem(case.forest, case.X, error="held-out", y_cost=case.y)
    for h, rows in enumerate(twins.reached(case.forest, case.X)):
        assert sorted(rows_of(problem, h).tolist()) == rows
        if not case.forest.is_split[h]:
            assert rows_of(problem, h).tolist() == rows  # ascending


def test_orders_are_permutations(case):
    rows = route(case.forest, case.forest.prepare_rows(case.X))
    assert rows.order.dtype == rows.start.dtype == rows.stop.dtype == np.int32
    assert np.array_equal(np.sort(rows.order, axis=1), np.tile(np.arange(len(case.X)), (len(rows.order), 1)))


@pytest.mark.parametrize("missing", ["nan", "nan-or-zero"])
def test_splits_of_other_libraries_go_the_way_that_apply_goes(get_case, missing):
    """Sets of categories, and zeros that mean "missing", at every other split."""
    forest = get_case("forest").forest
    split = np.flatnonzero(forest.is_split)
    category_set = np.full(forest.n_nodes, -1)
    category_set[split[::2]] = np.arange(split[::2].size) % 2
    forest = replace(
        forest,
        category_set=category_set,
        threshold=np.where(category_set >= 0, np.nan, forest.threshold),
        category_start=[0, 1, 3],
        category_bits=[0b1010, 0b1101, 1],
        missing_left=forest.is_split & (np.arange(forest.n_nodes) % 3 == 0),
        missing=missing,
    )
    X = np.random.default_rng(0).integers(-3, 40, size=(30, forest.n_features)).astype(float)
    X[::7] = 0
    X[::4, 1] = np.nan
    problem = PruningProblem(forest, X)
    for t, leaves in enumerate(forest.apply(X).T):
        for i, h in enumerate(leaves):
            assert forest.tree_of_node[h] == t
            assert i in rows_of(problem, h)


def test_row_weights_are_shares(get_case):
    case = get_case("forest")
    assert np.array_equal(PruningProblem(case.forest, case.X).row_weight, np.full(23, 1 / 23))
    problem = PruningProblem(case.forest, case.X, sample_weight=case.weight)
    assert np.array_equal(problem.row_weight, case.weight / case.weight.sum())
