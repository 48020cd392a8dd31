"""Sums and means over the leaves below a node, against the plainest way to find those leaves."""

import numpy as np
import pytest

from budgetprune.forest._topology import mean_of_leaves, sum_of_leaves

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
