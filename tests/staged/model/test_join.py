"""Forests that are joined and taken apart again."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import fields, replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetprune import Forest
from budgetprune.staged.model.join import join_forests, take_trees

from ...predictor.forests import GRID, KINDS, random_forest
from ...solvers.strategies import generators

N_FEATURES = 4
# Forests of one model have the same outputs, and values of the same width.
BOOSTED = [kind for kind in KINDS if kind.startswith(("boosted", "regression", "softmax"))]


@st.composite
def siblings(draw: st.DrawFn) -> list[Forest]:
    """Forests that differ in their trees and in their base; some of them split by category."""
    rng = draw(generators)
    kind = draw(st.sampled_from(BOOSTED))
    found = []
    for has_categories in draw(st.lists(st.booleans(), min_size=1, max_size=4)):
        forest = random_forest(rng, kind, N_FEATURES, int(rng.integers(1, 5)), has_categories)
        rounds = np.sort(rng.integers(0, 3, forest.n_trees))
        found.append(
            replace(
                forest,
                tree_round=rounds - rounds[0],
                divisor=1.0,
                input_dtype=np.dtype(np.float64),
                missing="nan",
                categories=None,
                split_gain=rng.random(forest.n_nodes),
            )
        )
    return found


def rows() -> np.ndarray:
    """Rows with all values of the grid, and missing values."""
    return np.random.default_rng(0).choice([*range(GRID), np.nan], (40, N_FEATURES))


def take_apart(joined: Forest, forests: list[Forest]) -> list[Forest]:
    ends = np.cumsum([0, *(each.n_trees for each in forests)]).tolist()
    return [take_trees(joined, a, b) for a, b in itertools.pairwise(ends)]


def assert_equal(one: Forest, other: Forest, but: tuple[str, ...] = ()) -> None:
    for field in fields(Forest):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name in but:
            continue
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field.name
            np.testing.assert_array_equal(a, b, err_msg=field.name)
        else:
            assert a == b, field.name


@settings(deadline=None)
@given(siblings())
def test_joined_forests_can_be_taken_apart(forests):
    joined = join_forests(forests)
    for before, after in zip(forests, take_apart(joined, forests), strict=True):
        assert_equal(before, replace(after, base=before.base))
    a, b = 0, forests[0].n_trees
    assert_equal(forests[0], take_trees(replace(joined, base=joined.base + 1), a, b, forests[0].base))


@settings(deadline=None)
@given(siblings())
def test_scores_of_joined_forests_add_up(forests):
    joined, X = join_forests(forests), rows()
    total = sum(each.scores(X) - each.base for each in forests) + forests[0].base
    np.testing.assert_allclose(joined.scores(X), total, rtol=1e-12, atol=1e-12)
    for before, after in zip(forests, take_apart(joined, forests), strict=True):
        np.testing.assert_array_equal(replace(after, base=before.base).scores(X), before.scores(X))


@settings(deadline=None)
@given(siblings())
def test_parts_that_are_joined_again_are_the_same_forest(forests):
    joined = join_forests(forests)
    assert_equal(joined, join_forests(take_apart(joined, forests)))


@settings(deadline=None)
@given(siblings(), st.data())
def test_any_trees_can_be_taken(forests, data):
    """Each tree answers as it does in the whole forest, whatever is taken with it."""
    joined, X = join_forests(forests), rows()
    first = data.draw(st.integers(0, joined.n_trees - 1))
    last = data.draw(st.integers(first + 1, joined.n_trees))
    part = take_trees(joined, first, last)
    start = joined.tree_start[first]
    np.testing.assert_array_equal(part.apply(X), joined.apply(X)[:, first:last] - start)
    np.testing.assert_array_equal(part.value, joined.value[start : joined.tree_start[last]])
    used = part.category_set[part.category_set >= 0]
    assert np.array_equal(np.unique(used), np.arange(part.category_start.size - 1))


@settings(deadline=None)
@given(siblings())
def test_properties_of_nodes_that_some_forests_lack_are_left_out(forests):
    """Also the rounds of boosting: the first forest alone cannot say them for all trees."""
    forests = [*forests, replace(forests[0], tree_round=None, split_gain=None)]
    joined = join_forests(forests)
    assert joined.tree_round is None
    assert joined.split_gain is None


def test_sets_of_categories_that_no_split_uses_are_left_out():
    forest = random_forest(np.random.default_rng(3), "boosted", N_FEATURES, 3, has_categories=True)
    assert forest.category_start.size > 2
    more = replace(
        forest,
        category_start=np.append(forest.category_start, forest.category_bits.size + 1000),
        category_bits=np.append(forest.category_bits, np.ones(1000, dtype=np.uint32)),
    )
    assert_equal(take_trees(more, 0, more.n_trees), take_trees(forest, 0, forest.n_trees))


def test_names_and_categories_are_those_of_the_whole_forest():
    forest = random_forest(np.random.default_rng(3), "boosted", N_FEATURES, 3, has_categories=True)
    named = replace(forest, feature_names=tuple("abcd"))
    part = take_trees(named, 1, 2)
    assert part.feature_names == named.feature_names
    assert part.categories == named.categories
    assert part.categories is not None


def test_a_part_takes_memory_for_its_own_categories_only():
    """Else many parts of a large forest would take its size many times over."""
    forest = random_forest(np.random.default_rng(3), "boosted", N_FEATURES, 3, has_categories=True)
    n, n_more = forest.category_bits.size, 200_000
    more = replace(
        forest,
        category_start=np.append(forest.category_start, n + 1 + np.arange(n_more)),
        category_bits=np.append(forest.category_bits, np.ones(n_more, dtype=np.uint32)),
    )
    take_trees(more, 0, 1)  # kernels are compiled
    tracemalloc.start()
    try:
        take_trees(more, 0, 1)
        assert tracemalloc.get_traced_memory()[1] < n_more
    finally:
        tracemalloc.stop()
