"""Every split of a grown tree is one that brute force finds: impurities, rules, and squared loss."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetprune.baselines import grower
from budgetprune.baselines.binning import MISSING, find_bins
from budgetprune.baselines.grower import grow_tree, logarithms
from budgetprune.baselines.grower_inputs import ENTROPY, PAIRS, SQUARED, Prices, SplitCriterion, TreeSample
from budgetprune.costs import FeatureCosts

from .grown_oracles import CLOSE, candidates, impurity_after, rows_of_nodes, squared_after

pytestmark = pytest.mark.uncompiled

MEASURES = {"entropy": ENTROPY, "pairs": PAIRS}


def criterion_for(measure, rule="expected", threshold=0.0, cost_weight=0.0, **limits):
    limits = {"max_features": 2**20, "max_depth": 2**20, "min_samples_leaf": 1, **limits}
    return SplitCriterion(measure, rule == "expected", threshold, cost_weight, **limits)


@st.composite
def rows_and_costs(draw):
    """Few rows with few values, so that ties abound; some are missing, some features are for free."""
    n_rows, n_features = draw(st.integers(1, 14)), draw(st.integers(1, 4))
    value = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
    X = np.array(draw(st.lists(value, min_size=n_rows * n_features, max_size=n_rows * n_features)))
    weight = draw(
        st.one_of(
            st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows),
            st.lists(st.sampled_from([0.0, 0.25, 0.7, 1.9]), min_size=n_rows, max_size=n_rows),
        ).filter(any)
    )
    costs = draw(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0]), min_size=n_features, max_size=n_features)
    )
    X = X.reshape(n_rows, n_features).astype(np.float32)
    return find_bins(X), np.array(weight, dtype=np.float64), costs


def chosen(tree, h, reached, found):
    """The candidate that a node has taken, whose best split must be the node's."""
    (own,) = (candidate for candidate in found if candidate.feature == tree.feature[h])
    assert frozenset(reached[tree.left[h]].tolist()) in own.lefts
    return own


@settings(deadline=None, max_examples=100)
@given(
    data=rows_and_costs(),
    measure=st.sampled_from(["entropy", "pairs"]),
    rule=st.sampled_from(["minimax", "expected"]),
    threshold=st.sampled_from([0.0, 0.0, 0.5, 0.9, 1.0, 2.0]),
    min_samples_leaf=st.integers(1, 3),
    seed=st.integers(1, 2**31 - 1),
)
def test_splits_of_impurities(data, measure, rule, threshold, min_samples_leaf, seed):
    bins, weight, costs = data
    label = np.random.RandomState(seed).randint(0, 3, weight.size).astype(np.int32)
    criterion = criterion_for(MEASURES[measure], rule, threshold, min_samples_leaf=min_samples_leaf)
    prices = Prices.of(FeatureCosts(costs).resolve(len(costs)))
    tree = grow_tree(
        bins, TreeSample.of_classes(label, weight, 3), prices, criterion, logarithms(weight, criterion), seed
    )
    assert not prices.is_paid.any()  # a feature that is used again is charged again
    impurity, after = impurity_after(label, weight, 3, measure, rule, threshold)
    reached = rows_of_nodes(tree, bins, np.flatnonzero(weight))
    for h, rows in enumerate(reached):
        np.testing.assert_allclose(tree.sums[h], np.bincount(label[rows], weight[rows], 3), rtol=1e-12)
        found = list(candidates(bins, rows, min_samples_leaf, impurity(rows), after))
        if tree.feature[h] < 0:
            assert not found
            assert np.all(tree.leaf[rows] == h)
            continue
        own = chosen(tree, h, reached, found)
        ratio = {one.feature: costs[one.feature] / one.decrease for one in found}
        assert ratio[own.feature] <= min(ratio.values()) * (1 + CLOSE)
        equally_cheap = [one for one in found if ratio[one.feature] <= ratio[own.feature] * (1 + CLOSE)]
        assert own.decrease >= max(one.decrease for one in equally_cheap) * (1 - CLOSE)


@settings(deadline=None, max_examples=60)
@given(
    data=rows_and_costs(),
    cost_weight=st.sampled_from([0.0, 0.05, 0.3]),
    max_depth=st.integers(1, 4),
    min_samples_leaf=st.integers(1, 2),
    n_groups=st.integers(1, 3),
    seed=st.integers(1, 2**31 - 1),
)
def test_splits_of_squared_loss(data, cost_weight, max_depth, min_samples_leaf, n_groups, seed):
    bins, weight, costs = data
    random = np.random.RandomState(seed)
    target = random.randint(-2, 3, weight.size).astype(np.float64)
    groups = random.randint(0, n_groups, len(costs))  # sources that features share, beside their own
    table = FeatureCosts(costs, groups=groups.tolist(), group_costs=0.7).resolve(len(costs))
    prices = Prices.of(table)
    prices.is_paid[:] = random.random_sample(prices.is_paid.size) < 0.3
    paid = set(np.flatnonzero(prices.is_paid).tolist())
    criterion = criterion_for(
        SQUARED, cost_weight=cost_weight, max_depth=max_depth, min_samples_leaf=min_samples_leaf
    )
    tree = grow_tree(bins, TreeSample.of_target(target, weight), prices, criterion, np.empty(0), seed)
    loss, after = squared_after(target, weight)
    reached = rows_of_nodes(tree, bins, np.flatnonzero(weight))
    depth = {0: 0}
    for h, rows in enumerate(reached):  # level by level, as they were grown: prices depend on it
        expected = [weight[rows].sum(), (weight * target)[rows].sum()]
        np.testing.assert_allclose(tree.sums[h], expected, rtol=1e-12, atol=1e-12)
        needs = [set(table.needs[a:b].tolist()) for a, b in pairwise(table.needs_start)]
        net = {
            one: one.decrease / weight.sum()
            - cost_weight * sum(table.price[s] for s in needs[one.feature] - paid)
            for one in candidates(bins, rows, min_samples_leaf, loss(rows), after)
        }
        if tree.feature[h] < 0:
            assert depth[h] == max_depth or max(net.values(), default=0.0) <= CLOSE
            continue
        own = chosen(tree, h, reached, net)
        assert net[own] >= max(net.values()) - CLOSE
        assert net[own] > -CLOSE
        paid |= needs[own.feature]
        depth[tree.left[h]] = depth[tree.right[h]] = depth[h] + 1
    assert max(depth.values()) <= max_depth
    assert set(np.flatnonzero(prices.is_paid).tolist()) == paid


def grow(X, y, costs=None, measure=ENTROPY, rule="expected", seed=1, **limits):
    X = np.asarray(X, dtype=np.float32)
    label, weight = np.asarray(y, dtype=np.int32), np.ones(len(X))
    criterion, bins = criterion_for(measure, rule, **limits), find_bins(X)
    prices = Prices.of(FeatureCosts(costs).resolve(X.shape[1]))
    sample = TreeSample.of_classes(label, weight, label.max() + 1)
    return grow_tree(bins, sample, prices, criterion, logarithms(weight, criterion), seed), bins


SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_no_decrease_no_split():
    tree, _ = grow(SQUARE, [0, 1, 1, 0])
    assert tree.feature.tolist() == [-1]
    # Half of the entropy goes, but one child is as impure as the node was: that is no decrease of the worst.
    X, y = [[0], [1], [1], [2]], [0, 0, 1, 0]
    assert grow(X, y)[0].feature[0] == 0
    assert grow(X, y, rule="minimax")[0].feature[0] == -1


@pytest.mark.parametrize(
    ("costs", "feature"),
    [
        ([1.0, 1.0], 0),  # the larger decrease
        ([3.0, 1.0], 1),  # the larger decrease per unit of cost
        ([5.0, 0.0], 1),  # nothing is cheaper than nothing
        ([0.0, 0.0], 0),  # ... and then the larger decrease
    ],
)
def test_prices_decide(costs, feature):
    X = np.column_stack([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]])
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    assert grow(X, y, costs)[0].feature[0] == feature


def test_equal_ratios_go_to_the_larger_decrease():
    # Pairs at the root: 4 * 4 = 16. Feature 0 leaves 0; feature 1 leaves 4 * 2 = 8 in the worse child.
    X = np.column_stack([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1, 1]])
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    for seed in range(1, 8):
        tree, _ = grow(X, y, [2.0, 1.0], PAIRS, "minimax", seed=seed)
        assert tree.feature[0] == 0


def test_ties_are_drawn():
    X = np.repeat(np.arange(8)[:, np.newaxis], 3, axis=1)
    chosen_features = {int(grow(X, [0, 0, 0, 0, 1, 1, 1, 1], seed=s)[0].feature[0]) for s in range(1, 40)}
    assert chosen_features == {0, 1, 2}


def test_missing_values_alone_can_be_parted():
    tree, bins = grow([[1], [2], [np.nan], [3], [np.nan]], [0, 0, 1, 0, 1])
    assert tree.feature.tolist() == [0, -1, -1]
    assert bins.edge[0, tree.bin[0]] == np.finfo(np.float32).max
    assert tree.sums.tolist() == [[3, 2], [3, 0], [0, 2]]


def test_nothing_missing_goes_with_the_majority():
    for y, majority_left in (([0, 0, 0, 1], True), ([0, 1, 1, 1], False)):
        tree, _ = grow([[0], [1], [2], [3]], y)
        assert tree.missing_left[0] == majority_left


def test_edges_lie_in_the_middle_of_a_gap():
    X = np.arange(40)[:, np.newaxis]
    weight = np.zeros(40)
    weight[[3, 20]] = 1.0
    criterion, bins = criterion_for(ENTROPY), find_bins(X.astype(np.float32))
    sample = TreeSample.of_classes((np.arange(40) > 10).astype(np.int32), weight, 2)
    tree = grow_tree(bins, sample, Prices.of(FeatureCosts().resolve(1)), criterion, np.empty(0), 1)
    assert bins.edge[0, tree.bin[0]] == 11.5


def test_subsets_of_features_are_drawn_until_one_can_be_split():
    X = np.zeros((20, 30))
    X[:, 17] = np.arange(20)
    tree, _ = grow(X, np.arange(20) > 9, max_features=1)
    assert tree.feature.tolist() == [17, -1, -1]
    # With features that all split, one look is one feature: the best of them is found now and then.
    X = np.random.default_rng(0).normal(size=(50, 4))
    y = X[:, 2] > 0
    roots = [int(grow(X, y, max_features=1, max_depth=1, seed=s)[0].feature[0]) for s in range(1, 80)]
    assert set(roots) == {0, 1, 2, 3}
    assert roots.count(2) < 40


def test_growth_can_pause_between_nodes(monkeypatch):
    """As it does in large trees, so that it can be interrupted."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    whole, _ = grow(X, y, max_features=2)
    calls = []

    class CountingGrower(grower.Grower):
        def grow(self, n_steps):
            calls.append(n_steps)
            return super().grow(n_steps)

    monkeypatch.setattr(grower, "Grower", CountingGrower)
    monkeypatch.setattr(grower, "_N_STEPS", 100)
    paused, _ = grow(X, y, max_features=2)
    assert len(calls) > 5
    for one, other in zip(whole, paused, strict=True):
        assert np.array_equal(one, other)


# --- Bins ---------------------------------------------------------------------------------------------------


@given(
    st.lists(
        st.floats(-(2.0**100), 2.0**100, width=32) | st.sampled_from([0.0, 1.0, -999.0, np.nan]),
        min_size=1,
        max_size=60,
    ),
    st.integers(2, 12),
)
def test_bins_are_what_their_edges_say(values, max_bins):
    column = np.array(values, dtype=np.float32)
    bins = find_bins(column[:, np.newaxis], max_bins)
    n_bins, code, edge = bins.n_bins[0], bins.code[0], bins.edge[0]
    present = ~np.isnan(column)
    distinct = np.unique(column[present]).size
    assert n_bins == max(distinct, 1) if distinct <= max_bins else 2 <= n_bins <= max_bins
    assert np.all(code[~present] == MISSING)
    assert np.all(code[present] < n_bins)
    for b in range(n_bins):
        # The comparison that a forest makes, with its threshold: x <= t goes left.
        np.testing.assert_array_equal(code[present] <= b, column[present] <= edge[b])
    assert np.all(np.diff(edge[:n_bins]) > 0)


def test_bins_hold_about_as_many_rows_each():
    random = np.random.default_rng(0)
    column = random.normal(size=20_000).astype(np.float32)
    column[:12_000] = -999.0  # one value that fills many bins gets one, and the others get the rest
    bins = find_bins(column[:, np.newaxis], 100)
    count = np.bincount(bins.code[0])
    assert bins.n_bins[0] == count.size == 100
    assert count[0] == 12_000
    assert count[1:].max() < 1.1 * 8000 / 99
