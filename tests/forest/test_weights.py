"""Weights of nodes from rows."""

from dataclasses import replace

import numpy as np
import pytest

from .conftest import training_rows


@pytest.mark.parametrize("name", ["regression forest", "boosting, three classes", "random forest, missing"])
def test_rows_at_nodes_and_means_of_leaves(get_case, name):
    forest = get_case(name).forest
    forest = replace(forest, weight=np.zeros(forest.n_nodes), class_weight=None, variance=None)
    X = training_rows()
    weighed = forest.with_weights_of(X)
    reached = np.zeros(forest.n_nodes)
    for h in forest.apply(X).ravel():
        while h >= 0:
            reached[h] += 1
            h = forest.parent[h]
    np.testing.assert_array_equal(weighed.weight, reached)
    split = np.flatnonzero(forest.is_split & (reached > 0))
    total = weighed.value * reached[:, np.newaxis]
    parts = total[forest.left[split]] + total[forest.right[split]]
    np.testing.assert_allclose(total[split], parts, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(weighed.scores(X), forest.scores(X))


def test_records_of_other_rows_are_removed(get_case):
    forest = get_case("random forest").forest.with_weights_of(training_rows()[:10])
    assert forest.class_weight is None
    assert get_case("hist").forest.with_weights_of(training_rows()).split_gain is None
