"""Which rows each tree saw, against scikit-learn's own record and what the trees remember."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from budgetprune.errors import InvalidInputError


def test_counts_are_those_of_the_recorded_samples(case):
    counts = case.forest.in_bag_counts(len(case.y))
    assert counts.dtype == np.int32
    assert counts.shape == (case.forest.n_trees, len(case.y))
    everyone = [np.arange(len(case.y))]
    for count, sample in zip(counts, getattr(case.model, "estimators_samples_", everyone), strict=True):
        assert np.array_equal(np.repeat(np.arange(len(case.y)), count), np.sort(sample))


def test_roots_remember_as_many_rows(case):
    # Trees of a bag that samples by indexing see a row twice, all others see it once with weight two.
    counts = case.forest.in_bag_counts(len(case.y))
    for count, tree in zip(counts, case.trees, strict=True):
        assert tree.tree_.n_node_samples[0] in (np.count_nonzero(count), count.sum())


@pytest.mark.parametrize(
    "name", ["random forest", "random forest, half samples", "random forest, no bootstrap", "extra trees"]
)
def test_a_tree_grown_again_on_its_counts_is_the_same_tree(get_case, name):
    case = get_case(name)
    number = np.searchsorted(case.forest.classes, case.y)
    for count, tree in zip(case.forest.in_bag_counts(len(case.y)), case.trees, strict=True):
        again = clone(tree).fit(case.X.astype(np.float32), number, sample_weight=count)
        assert np.array_equal(again.tree_.threshold, tree.tree_.threshold)
        assert np.array_equal(again.tree_.value, tree.tree_.value)


def test_sampling_without_replacement_takes_no_row_twice(get_case):
    counts = get_case("bag, without replacement").forest.in_bag_counts(150)
    assert counts.max() == 1
    assert (counts.sum(axis=1) == 90).all()


def test_pruning_does_not_change_the_sample(get_case, prune_randomly):
    forest = get_case("random forest").forest
    pruned = forest.prune(prune_randomly(forest, 0))
    assert np.array_equal(pruned.in_bag_counts(150), forest.in_bag_counts(150))
    assert np.array_equal(
        type(forest).from_model(pruned.to_sklearn()).in_bag_counts(150), forest.in_bag_counts(150)
    )


@pytest.mark.parametrize("name", ["random forest", "tree", "bag"])
@pytest.mark.parametrize("n_rows", [149, 151])
def test_other_rows_are_refused(get_case, name, n_rows):
    with pytest.raises(InvalidInputError, match=f"trained on 150 rows, but {n_rows} were given"):
        get_case(name).forest.in_bag_counts(n_rows)


def test_without_an_origin_nobody_knows(get_case):
    with pytest.raises(InvalidInputError, match="no origin"):
        replace(get_case("bag").forest, origin=None).in_bag_counts(150)
