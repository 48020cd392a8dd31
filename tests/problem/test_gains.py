"""Measured gains of boosted trees: against what a booster recorded, a sum over rows, and the loss itself."""

from dataclasses import replace

import numpy as np
import pytest

from budgetprune.losses import find_loss
from budgetprune.problem.gains import measured_gains
from budgetprune.problem.kernels import sums_below
from budgetprune.problem.rows import route

from ..boosters import KINDS, LOSSES, boosted, gains_by_definition, with_other_answers

pytestmark = pytest.mark.uncompiled


def measure(forest, X, y, weight):
    return measured_gains(forest, route(forest, forest.prepare_rows(X)), y, weight)


@pytest.mark.parametrize("kind", KINDS)
def test_measured_on_its_training_rows_a_booster_gains_what_it_recorded(kind):
    case = boosted(kind)
    assert np.count_nonzero(case.forest.split_gain > 1e-6) >= 2
    measured = measure(case.forest, case.X_train, case.y_train, case.weight_train)
    per_weight = measured / case.weight_train.sum()
    np.testing.assert_allclose(per_weight, case.forest.split_gain, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_measured_on_any_rows_with_any_answers(kind):
    case = boosted(kind)
    forest = with_other_answers(case.forest)
    expected = gains_by_definition(forest, case.X, case.y, case.weight)
    assert (expected < 0).any()
    np.testing.assert_allclose(measure(forest, case.X, case.y, case.weight), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["squared", "softmax", "softmax, joint"])
def test_trees_of_one_round_share_their_gradients(kind):
    """Two trees may feed the same output in the same round; each is measured as if it were alone."""
    case = boosted(kind)
    forest = replace(case.forest, tree_round=case.forest.tree_round // 2 + 5)
    expected = gains_by_definition(forest, case.X, case.y, case.weight)
    np.testing.assert_allclose(measure(forest, case.X, case.y, case.weight), expected, rtol=1e-9, atol=1e-12)
    assert not np.allclose(expected, measure(case.forest, case.X, case.y, case.weight))


def test_a_split_that_changes_no_answer_gains_exactly_nothing():
    case = boosted("logistic")
    value = np.repeat(case.forest.value[case.forest.tree_start[:-1]], np.diff(case.forest.tree_start), axis=0)
    assert not measure(replace(case.forest, value=value), case.X, case.y, case.weight).any()


def test_rows_without_weight_do_not_count():
    case = boosted("poisson")
    counts = case.weight > 0
    assert not counts.all()
    np.testing.assert_allclose(
        measure(case.forest, case.X, case.y, case.weight),
        measure(case.forest, case.X[counts], case.y[counts], case.weight[counts]),
        rtol=1e-12,
        atol=1e-15,
    )


def loss_added(forest, keep, case):
    """By how much the loss of the pruned ensemble exceeds that of the whole one."""
    pruned, whole = (
        case.weight @ find_loss(forest.loss).value(f.scores(case.X), case.y)
        for f in (forest.prune(keep), forest)
    )
    return pruned - whole


def shrink_last_tree(forest, factor):
    """The last tree, in a round of its own: trees of one round take no notice of each other."""
    last = forest.tree_of_node == forest.n_trees - 1
    value = np.where(last[:, np.newaxis], factor * forest.value, forest.value)
    return replace(forest, value=value, tree_round=np.append(forest.tree_round[:-1], 1000))


@pytest.mark.parametrize("kind", [*LOSSES, "logistic, divided"])
def test_a_split_of_the_last_tree_adds_to_the_loss_what_it_gained(kind):
    """To second order: shrink the tree by 2, and what is wrong shrinks by 8."""
    case = boosted(kind, n_rounds=3, max_depth=2)
    last = np.arange(case.forest.tree_start[-2], case.forest.n_nodes)
    below_root = [h for h in last[1:] if case.forest.is_split[h]]
    for h in [*below_root, int(last[0])]:
        keep = case.forest.is_split & ~np.isin(np.arange(case.forest.n_nodes), last if h == last[0] else h)
        wrong, added = [], []
        for factor in (1 / 16, 1 / 32):
            forest = shrink_last_tree(case.forest, factor)
            gain = measure(forest, case.X, case.y, case.weight)
            added.append(loss_added(forest, keep, case))
            wrong.append(added[-1] - gain[forest.is_split & ~keep].sum())
        assert abs(added[0]) > 1e-4
        assert abs(wrong[0]) < 0.02 * abs(added[0])
        assert abs(wrong[1]) <= abs(wrong[0]) / 6 + 1e-10


def test_sums_below():
    case = boosted("squared")
    amount = np.random.default_rng(0).normal(size=case.forest.n_nodes)
    below = sums_below(case.forest.right, amount)
    for h in range(case.forest.n_nodes):
        above = [h]
        nodes = [h]
        while above:  # one generation after the other
            above = [c for c in range(case.forest.n_nodes) if case.forest.parent[c] in above]
            nodes += above
        assert below[h] == pytest.approx(amount[nodes].sum())
