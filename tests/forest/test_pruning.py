"""Pruning against an obvious recursion that walks one row down one tree and stops where a split has gone."""

import numpy as np
import pytest

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest

SEEDS = range(3)


def stop(forest, keep, h, x):
    """The slow twin: the node where row x stops below h if only the splits in keep are left."""
    if not keep[h]:
        return h
    value = x[forest.feature[h]]
    left = forest.missing_left[h] if np.isnan(value) else value <= forest.threshold[h]
    return stop(forest, keep, forest.left[h] if left else forest.right[h], x)


def count_reached(forest, keep, h):
    """The slow twin of which nodes are left: a split that stays has two children that are left."""
    if not keep[h]:
        return 1
    return 1 + count_reached(forest, keep, forest.left[h]) + count_reached(forest, keep, forest.right[h])


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["random forest, missing", "regression bag", "tree, missing, best first"])
def test_rows_stop_where_the_recursion_stops(get_case, prune_randomly, name, seed):
    case = get_case(name)
    forest, rows = case.forest, case.forest.prepare_rows(case.rows[:40])
    keep = prune_randomly(forest, seed)
    pruned = forest.prune(keep)
    expected = np.array([[stop(forest, keep, root, x) for root in forest.tree_start[:-1]] for x in rows])
    stopped = pruned.apply(rows)
    assert np.array_equal(pruned.origin_node[stopped], forest.origin_node[expected])
    assert np.array_equal(pruned.tree_of_node[stopped], forest.tree_of_node[expected])
    assert np.array_equal(pruned.value[stopped], forest.value[expected])
    score = forest.value[expected].sum(axis=1) / forest.divisor
    assert np.allclose(pruned.scores(rows), score, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_only_the_nodes_that_are_left_remain(case, prune_randomly, seed):
    forest = case.forest
    keep = prune_randomly(forest, seed)
    pruned = forest.prune(keep)
    assert pruned.n_splits == keep.sum()
    sizes = [count_reached(forest, keep, root) for root in forest.tree_start[:-1]]
    assert np.diff(pruned.tree_start).tolist() == sizes
    is_leaf = ~pruned.is_split
    assert (pruned.left[is_leaf] == -1).all()
    assert (pruned.right[is_leaf] == -1).all()
    assert np.isnan(pruned.threshold[is_leaf]).all()
    assert not pruned.missing_left[is_leaf].any()
    assert pruned.origin is forest.origin


def test_keeping_everything_changes_nothing(case):
    forest, same = case.forest, case.forest.prune(case.forest.is_split)
    for name in ("tree_start", "parent", "left", "right", "feature", "value", "weight", "origin_node"):
        assert np.array_equal(getattr(forest, name), getattr(same, name))
    assert np.array_equal(forest.threshold, same.threshold, equal_nan=True)
    assert np.array_equal(forest.missing_left, same.missing_left)


def test_keeping_nothing_leaves_the_roots(case):
    forest = case.forest
    stump = forest.prune(np.zeros(forest.n_nodes, dtype=bool))
    roots = forest.tree_start[:-1]
    assert stump.n_nodes == stump.n_trees == forest.n_trees
    assert np.array_equal(stump.value, forest.value[roots])
    assert np.allclose(stump.scores(case.rows), forest.value[roots].mean(axis=0), rtol=1e-12)


def test_pruning_twice_is_pruning_once(case, prune_randomly):
    forest = case.forest
    first = prune_randomly(forest, 0, 0.9)
    both = first & prune_randomly(forest, 1, 0.8)
    left = (forest.parent < 0) | first[forest.parent]
    step_by_step = forest.prune(first).prune(both[left])
    at_once = forest.prune(both)
    assert np.array_equal(step_by_step.origin_node, at_once.origin_node)
    assert np.array_equal(step_by_step.right, at_once.right)
    assert np.array_equal(step_by_step.feature, at_once.feature)


@pytest.mark.uncompiled
def test_masks_that_are_no_pruning_are_refused(get_case):
    forest: Forest = get_case("tree").forest
    keep = forest.is_split.copy()
    with pytest.raises(InvalidInputError, match="bool mask"):
        forest.prune(keep[:-1])
    with pytest.raises(InvalidInputError, match="bool mask"):
        forest.prune(keep.astype(int))
    keep[0] = False
    with pytest.raises(InvalidInputError, match=r"node \d+ but not its parent 0"):
        forest.prune(keep)
    leaf = np.flatnonzero(~forest.is_split)[0]
    keep = forest.is_split.copy()
    keep[leaf] = True
    with pytest.raises(InvalidInputError, match=f"node {leaf}, which is a leaf"):
        forest.prune(keep)
