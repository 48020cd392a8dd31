"""Who is whose child, and sums and means over the leaves below a node, against the plainest ways to know."""

import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.forest.topology import links_in_preorder, mean_of_leaves, sum_of_leaves

pytestmark = pytest.mark.nojit


def leaves_below(right, h):
    return [h] if right[h] < 0 else leaves_below(right, h + 1) + leaves_below(right, right[h])


@pytest.fixture
def right(get_case):
    return get_case("random forest").forest.right


def test_sums(right):
    amount = np.random.default_rng(0).integers(0, 9, (right.size, 2)).astype(float)
    expected = [amount[leaves_below(right, h)].sum(axis=0) for h in range(right.size)]
    assert np.array_equal(sum_of_leaves(right, amount), expected)


def test_means(right):
    rng = np.random.default_rng(0)
    value, weight = rng.normal(size=(right.size, 2)), rng.random(right.size)
    leaves = [leaves_below(right, h) for h in range(right.size)]
    expected = [np.average(value[below], weights=weight[below], axis=0) for below in leaves]
    assert np.allclose(mean_of_leaves(right, value, weight), expected, rtol=1e-12)


def test_where_nothing_has_weight_both_sides_count_alike():
    right = np.array([4, 3, -1, -1, -1], dtype=np.int32)
    value = np.array([[9.0], [9.0], [1.0], [2.0], [5.0]])
    assert mean_of_leaves(right, value, np.zeros(5))[:, 0].tolist() == [3.25, 1.5, 1.0, 2.0, 5.0]
    some = np.array([0.0, 0.0, 0.0, 0.0, 2.0])
    assert mean_of_leaves(right, value, some)[:, 0].tolist() == [5.0, 1.5, 1.0, 2.0, 5.0]


def test_links_follow_from_the_order(get_case):
    forest = get_case("random forest").forest
    found = links_in_preorder(forest.tree_start, forest.is_split)
    for links, name in zip(found, ("parent", "left", "right"), strict=True):
        assert np.array_equal(links, getattr(forest, name))
        assert links.dtype == np.int32


@pytest.mark.parametrize(
    ("start", "is_split"),
    [
        ([0, 3], [1, 0, 1]),  # a split without children
        ([0, 3], [0, 0, 0]),  # nodes that are nobody's
        ([0, 4], [1, 0, 0, 0]),
        ([0, 2, 3], [1, 0, 0]),  # a child in the next tree
        ([0, 3, 3], [1, 0, 0]),  # a tree without nodes
        ([1, 3], [1, 0, 0]),
        ([0, 2], [1, 0, 0]),
        ([0, 9], [1, 0, 0]),
        ([0], []),
    ],
)
def test_what_is_no_tree_is_refused(start, is_split):
    with pytest.raises(InvalidInputError, match="make no trees"):
        links_in_preorder(np.array(start, dtype=np.int64), np.array(is_split, dtype=np.bool_))
