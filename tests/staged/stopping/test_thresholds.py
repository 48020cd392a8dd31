"""Thresholds against other ways to find them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from budgetprune.staged.stopping.lambdas import choose_lambdas
from budgetprune.staged.stopping.out_of_fold import StoppingData
from budgetprune.staged.stopping.thresholds import effective_thresholds, learn_thresholds, stopping_stage


def total(evidence, thresholds, lam):
    """Loss and cost together, on average."""
    stage = stopping_stage(evidence.uncertainty, thresholds)
    paid = np.cumsum(evidence.price)[stage]
    rows = np.arange(len(stage))
    return float(np.average(evidence.loss[rows, stage] + lam * paid, weights=evidence.weight))


def tree_of_outcomes(rng, n_stages=3, n_branches=2, n_rows=4):
    """Rows at the leaves of a tree. Each node of a stage has an uncertainty of its own, its expected loss.

    What is known at a stage is the node. Answers get better from stage to stage, by the same factor at each
    node of a stage: so going on is worth more where the answer is more uncertain.
    """
    n_leaves = n_branches ** (n_stages - 1)
    last = rng.uniform(0.0, 0.2, n_leaves)
    expected = [last]
    for _ in range(n_stages - 1):
        below = expected[0].reshape(-1, n_branches).mean(axis=1)
        expected.insert(0, below * rng.uniform(1.5, 4))
    uncertainty = np.column_stack([np.repeat(each, n_leaves // each.size) for each in expected])
    uncertainty = np.repeat(uncertainty, n_rows, axis=0)
    price = np.append(0.0, rng.uniform(0.2, 2, n_stages - 1))
    return StoppingData(uncertainty, uncertainty.copy(), price, rng.uniform(0.5, 2, len(uncertainty)))


def every_stopping_rule(evidence, lam):
    """The least total over all rules: any set of nodes of each stage may stop."""
    levels = [np.unique(column) for column in evidence.uncertainty.T]
    n_stages = len(levels)
    paid = np.cumsum(evidence.price)
    best = np.inf
    choices = [list(product([False, True], repeat=each.size)) for each in levels[:-1]]
    for rule in product(*choices):
        stage = np.full(len(evidence.loss), n_stages - 1)
        for k in range(n_stages - 2, -1, -1):
            stops = np.array(rule[k])[np.searchsorted(levels[k], evidence.uncertainty[:, k])]
            stage[stops] = k
        rows = np.arange(len(stage))
        value = np.average(evidence.loss[rows, stage] + lam * paid[stage], weights=evidence.weight)
        best = min(best, float(value))
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lam", [0.0, 0.02, 0.1, 1.0])
def test_thresholds_are_optimal_where_going_on_is_worth_more_with_uncertainty(seed, lam):
    """The uncertainty of a child need not order nodes as the gain does; compare where it does."""
    evidence = tree_of_outcomes(np.random.default_rng(seed))
    thresholds = learn_thresholds(evidence, np.array([lam]))[0]
    best = every_stopping_rule(evidence, lam)
    found = total(evidence, thresholds, lam)
    assert found >= best - 1e-12
    if gains_increase(evidence, lam):
        assert found == pytest.approx(best, abs=1e-12)


def gains_increase(evidence, lam):
    """Whether, at each stage, going on is worth more for nodes that are more uncertain."""
    value = evidence.loss[:, -1]
    for k in range(evidence.price.size - 2, -1, -1):
        on = lam * evidence.price[k + 1] + value
        levels, node = np.unique(evidence.uncertainty[:, k], return_inverse=True)
        weight = np.bincount(node, weights=evidence.weight)
        gain = np.bincount(node, weights=evidence.weight * (evidence.loss[:, k] - on)) / weight
        if np.any(np.diff(gain) < -1e-12) and levels.size > 1:
            return False
        value = np.where(gain[node] > 0, on, evidence.loss[:, k])
    return True


def test_most_of_these_trees_can_be_solved_by_thresholds():
    """The comparison above says something."""
    solved = [
        gains_increase(tree_of_outcomes(np.random.default_rng(seed)), lam)
        for seed in range(12)
        for lam in (0.0, 0.02, 0.1, 1.0)
    ]
    assert np.mean(solved) > 0.5


def noisy(seed=0, n_rows=600, n_stages=5):
    rng = np.random.default_rng(seed)
    probability = rng.beta(0.7, 0.7, n_rows)
    label = rng.random(n_rows) < probability
    uncertainty, loss = [], []
    for k in range(n_stages):
        seen = np.clip(probability + rng.normal(0, 0.4 / (k + 1), n_rows), 0.001, 0.999)
        uncertainty.append(1 - np.maximum(seen, 1 - seen))
        loss.append((seen > 0.5) != label)
    price = np.append(0.0, rng.uniform(0.5, 2, n_stages - 1))
    weight = rng.uniform(0.5, 2, n_rows)
    return StoppingData(np.column_stack(uncertainty), np.column_stack(loss).astype(float), price, weight)


@pytest.mark.parametrize("seed", range(5))
def test_one_threshold_is_where_isotonic_regression_becomes_positive(seed):
    evidence = noisy(seed, n_stages=2)
    lam = 0.05
    threshold = learn_thresholds(evidence, np.array([lam]))[0, 0]
    gain = evidence.loss[:, 0] - evidence.loss[:, 1] - lam * evidence.price[1]
    isotonic = IsotonicRegression().fit(evidence.uncertainty[:, 0], gain, sample_weight=evidence.weight)
    fitted = isotonic.predict(evidence.uncertainty[:, 0])
    is_clear = np.abs(fitted) > 1e-9
    goes_on = evidence.uncertainty[:, 0] > threshold
    assert np.array_equal(goes_on[is_clear], (fitted > 0)[is_clear])


@pytest.mark.parametrize("seed", range(3))
def test_more_expensive_cost_buys_less(seed):
    evidence = noisy(seed)
    lams = choose_lambdas(evidence)
    assert np.all(np.diff(lams) < 0)
    assert lams[-1] == 0
    thresholds = learn_thresholds(evidence, lams)
    paid = np.cumsum(evidence.price)
    cost = [
        np.average(paid[stopping_stage(evidence.uncertainty, each)], weights=evidence.weight)
        for each in thresholds
    ]
    assert cost[0] == 0
    assert cost[-1] > 0
    # Thresholds of a stage are learnt from all rows, those that stop earlier too; so it may fall a little.
    assert np.all(np.diff(cost) >= -0.05 * paid[-1])


def test_free_stages_are_taken_if_they_help():
    evidence = noisy(1)
    free = StoppingData(evidence.uncertainty, evidence.loss, np.zeros(5), evidence.weight)
    stage = stopping_stage(free.uncertainty, learn_thresholds(free, choose_lambdas(free))[0])
    rows = np.arange(len(stage))
    best = np.average(free.loss, axis=0, weights=free.weight).min()
    assert np.average(free.loss[rows, stage], weights=free.weight) <= best + 1e-12


def test_equal_uncertainties_stay_together():
    uncertainty = np.array([[0.2, 0], [0.2, 0], [0.4, 0], [0.4, 0]])
    loss = np.array([[0, 1], [1, 0], [1, 0], [1, 0]], dtype=float)
    evidence = StoppingData(uncertainty, loss, np.array([0, 0.1]), np.ones(4))
    assert learn_thresholds(evidence, np.array([1.0]))[0].tolist() == [0.2, np.inf]
    assert stopping_stage(uncertainty, np.array([0.2, np.inf])).tolist() == [0, 0, 1, 1]


def test_weights_count_as_copies():
    evidence = noisy(2, n_rows=200)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    copies = np.repeat(np.arange(200), weight)
    ones = StoppingData(evidence.uncertainty, evidence.loss, evidence.price, np.ones(200))
    weighted = StoppingData(evidence.uncertainty, evidence.loss, evidence.price, weight.astype(float))
    lams = np.array([0.3, 0.1, 0.03, 0.01])
    copied = learn_thresholds(ones[copies], lams)
    for one, other, lam in zip(copied, learn_thresholds(weighted, lams), lams, strict=True):
        assert total(weighted, one, lam) == pytest.approx(total(weighted, other, lam), abs=1e-12)


def test_free_stages_and_limits():
    """What costs nothing is always taken; what a row cannot pay for is not."""
    thresholds, price = np.array([0.3, 0.2, 0.1, np.inf]), np.array([0.0, 1.0, 0.0, 2.0])
    for most, last in ((np.inf, 3), (3.0, 3), (2.9, 2), (0.9, 0)):
        found, end = effective_thresholds(thresholds, price, most)
        assert end == last
        np.testing.assert_array_equal(found, [0.3, -np.inf, 0.1, np.inf])
    assert thresholds[1] == 0.2
