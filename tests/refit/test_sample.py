"""Rows that were routed once stop in every pruning where the pruned forest itself would send them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils.class_weight import compute_sample_weight

from budgetprune import Forest, InvalidInputError
from budgetprune.refit import Sample

from ..boosters import KINDS, boosted
from .twins import design, pruned, random_pruning

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("probability", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_leaves_are_where_the_pruned_forest_sends_the_rows(kind, probability):
    case = boosted(kind)
    sample = Sample.of(case.forest, case.X, case.y)
    pruning = random_pruning(case.forest, 1, probability)
    leaves = sample.leaves(pruning)
    assert np.array_equal(leaves.node[leaves.stop].T, pruning.forest.apply(case.X))
    assert np.array_equal(leaves.node, np.flatnonzero(~pruning.forest.is_split))
    assert np.array_equal(
        leaves.node[leaves.start[:-1]] >= pruning.forest.tree_start[:-1], [True] * len(leaves.stop)
    )
    assert np.array_equal(np.diff(leaves.start), np.bincount(pruning.forest.tree_of_node[leaves.node]))
    assert leaves.score == pytest.approx(pruning.forest.scores(case.X))


@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_scores_are_products_with_the_design_matrix(kind):
    case = boosted(kind)
    leaves = Sample.of(case.forest, case.X, case.y).leaves(random_pruning(case.forest, 2))
    rng = np.random.default_rng(0)
    x, r, Z = rng.normal(size=leaves.value.shape), rng.normal(size=leaves.score.shape), design(leaves)
    assert leaves.scores(x) == pytest.approx(np.einsum("iklv,lv->ik", Z, x))
    assert leaves.sums(r) == pytest.approx(np.einsum("iklv,ik->lv", Z, r))
    weights = [case.weight[(leaves.stop == leaf).any(axis=0)].sum() for leaf in range(len(x))]
    assert leaves.weights(case.weight) == pytest.approx(weights)


def test_values_may_be_those_of_another_forest():
    case = boosted("softmax")
    sample, pruning = Sample.of(case.forest, case.X, case.y), random_pruning(case.forest, 1)
    other = replace(pruning.forest, value=2 * pruning.forest.value + 1)
    assert sample.leaves(pruning, other).score == pytest.approx(other.scores(case.X))


def test_take_and_add():
    case = boosted("gamma")
    sample = Sample.of(case.forest, case.X, case.y, case.weight)
    rows = np.array([4, 0, 4])
    taken = sample.take(rows)
    again = Sample.of(case.forest, case.X[rows], case.y[rows], case.weight[rows])
    both, together = (
        taken + sample,
        Sample.of(case.forest, *(np.concatenate([a[rows], a]) for a in (case.X, case.y, case.weight))),
    )
    for one, other in ((taken, again), (both, together)):
        for name in ("stop", "target", "weight"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
        assert one.n_rows == other.n_rows
        assert one.stop.flags.c_contiguous


def test_class_weights_of_the_model_count():
    """Otherwise a refit would undo them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.where(rng.random(50) < 0.2, "rare", "usual")
    weight = rng.integers(1, 4, 50)
    for wish in ("balanced", "balanced_subsample", {"rare": 7}, None):
        forest = Forest.from_model(RandomForestClassifier(3, class_weight=wish, random_state=0).fit(X, y))
        wish = "balanced" if wish == "balanced_subsample" else wish
        assert Sample.of(forest, X, y, weight).weight == pytest.approx(
            weight * compute_sample_weight(wish, y)
        )


def test_refusals():
    case, other = boosted("squared"), boosted("squared", 1)
    sample = Sample.of(case.forest, case.X, case.y)
    with pytest.raises(
        InvalidInputError, match=r"routed through the trees of Forest.*make a Sample of the forest"
    ):
        sample.leaves(pruned(other.forest, other.forest.is_split))
    with pytest.raises(InvalidInputError, match="routed through the trees of"):
        sample + Sample.of(other.forest, other.X, other.y)
    with pytest.raises(InvalidInputError, match=r"y must have one entry for each of the 25 rows.*\(24,\)"):
        Sample.of(case.forest, case.X, case.y[:-1])
    with pytest.raises(InvalidInputError, match="sample_weight must have one entry"):
        Sample.of(case.forest, case.X, case.y, [1, 2])
    with pytest.raises(InvalidInputError, match="sample_weight is 0 in all rows"):
        Sample.of(case.forest, case.X, case.y, 0 * case.y)
    with pytest.raises(InvalidInputError, match="y is nan in row 0"):
        Sample.of(case.forest, case.X, np.nan * case.y)
    logistic = boosted("logistic")
    with pytest.raises(
        InvalidInputError, match=r"y has labels that the forest does not know: 5; its classes"
    ):
        Sample.of(logistic.forest, logistic.X, np.full(len(logistic.X), 5))
    for kind, bad, bound in (("poisson", -1.0, "at least 0"), ("gamma", 0.0, "positive")):
        counts = boosted(kind)
        with pytest.raises(
            InvalidInputError, match=f"y is {bad} in row 0, but targets of a {kind} loss are {bound}"
        ):
            Sample.of(counts.forest, counts.X, np.where(np.arange(len(counts.y)) == 0, bad, counts.y))


def test_equal_trees_will_do():
    """A path that was loaded from a file has a forest of its own."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = RandomForestRegressor(2, random_state=0).fit(X, X[:, 0])
    sample, twin = Sample.of(Forest.from_model(model), X, X[:, 0]), Forest.from_model(model)
    assert sample.leaves(pruned(twin, twin.is_split)).score == pytest.approx(twin.scores(X))
