"""Who is whose child, and sums and means over the leaves below a node, against the plainest ways to know."""

import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.forest.topology import in_preorder, links_in_preorder
from budgetprune.forest.topology_kernels import mean_of_leaves, sum_of_leaves

pytestmark = pytest.mark.uncompiled


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


def links(*trees: list[tuple[int, int]]) -> tuple[np.ndarray, ...]:
    start = np.cumsum([0, *map(len, trees)])
    left, right = np.array([pair for tree in trees for pair in tree], dtype=np.int64).reshape(-1, 2).T
    return start, left, right


LEAF = (-1, -1)


@pytest.mark.uncompiled
@pytest.mark.parametrize(
    ("trees", "words"),
    [
        ([[(1, 2), LEAF, LEAF], [(1, 3), LEAF, LEAF]], "node 0 of tree 1 has the right child 3"),
        ([[(-2, 2), LEAF, LEAF]], "node 0 of tree 0 has the left child -2"),
        ([[(2**62, 2), LEAF, LEAF]], "node 0 of tree 0 has the left child"),
        ([[(1, 2), (0, 2), LEAF]], "node 1 of tree 0 has the left child 0"),
        ([[(1, -1), LEAF]], "node 0 of tree 0 has one child only"),
        ([[(1, 1), LEAF]], "node 1 of tree 0 is the child of 2 splits"),
        ([[(1, 2), LEAF, LEAF, LEAF]], "node 3 of tree 0 is the child of 0 splits"),
        ([[LEAF, (2, 3), (1, 4), LEAF, LEAF]], "node 1 of tree 0 cannot be reached"),
        ([[LEAF], []], "a tree without nodes"),
        ([], "no trees"),
    ],
)
def test_links_that_make_no_trees(trees, words):
    with pytest.raises(InvalidInputError, match=words):
        in_preorder(*links(*trees))


@pytest.mark.uncompiled
def test_links_in_any_order_are_fine():
    order, parent, left, right = in_preorder(*links([(3, 1), (2, 4), LEAF, LEAF, LEAF], [LEAF]))
    assert order.tolist() == [0, 3, 1, 2, 4, 5]
    assert parent.tolist() == [-1, 0, 0, 2, 2, -1]
    assert left.tolist() == [1, -1, 3, -1, -1, -1]
    assert right.tolist() == [2, -1, 4, -1, -1, -1]
