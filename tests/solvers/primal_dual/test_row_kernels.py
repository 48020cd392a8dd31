"""Kernels of the primal-dual solver against slow, obvious twins."""

import numpy as np
import pytest

from budgetprune.solvers.primal_dual import relevant_uses, row_kernels, tree_kernels
from budgetprune.solvers.primal_dual.block import BITS, as_units, units_of_weight
from budgetprune.solvers.primal_dual.potentials import (
    N_LEVELS,
    STEPS_PER_DOUBLING,
    fractional_powers,
    levels,
    step_length,
    weights,
)
from budgetprune.solvers.primal_dual.solve import rows_of

from ..oracles import random_case


def tree_value(forest, h, error, charge, temperature):
    """The slow twin of the recursion, with hard or soft minima."""
    if forest.left[h] < 0:
        return error[h]
    if temperature[h] == 0:
        temperature = 0 * temperature
    below = sum(tree_value(forest, c, error, charge, temperature) for c in (forest.left[h], forest.right[h]))
    if temperature[h] == 0:
        return min(error[h], charge[h] + below)
    choices = -np.array([error[h], charge[h] + below]) / temperature[h]
    return -temperature[h] * np.logaddexp(*choices)


def prune_trees(forest, error, charge, temperature):
    value, probability = np.empty((2, forest.n_nodes))
    keep = np.empty(forest.n_nodes, np.bool_)
    for t in range(forest.n_trees):
        tree_kernels.prune_trees(
            forest.tree_start,
            t,
            t + 1,
            forest.parent,
            forest.right,
            error,
            charge,
            temperature,
            value,
            keep,
            probability,
        )
    return value, keep, probability


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(5))
def test_trees_prune_themselves_as_the_recursion_says(seed):
    case = random_case(seed)
    forest, error = case.problem.forest, case.problem.error
    charge = np.random.default_rng(seed).random(forest.n_nodes) * 0.02
    cold, warm = np.zeros(forest.n_nodes), np.full(forest.n_nodes, 0.01)
    roots = forest.tree_start[:-1]
    value, keep, probability = prune_trees(forest, error, charge, cold)
    assert value[roots] == pytest.approx([tree_value(forest, h, error, charge, cold) for h in roots])
    assert np.array_equal(keep, probability == 1)
    assert case.problem.error_of(keep) + charge[keep].sum() == pytest.approx(value[roots].sum())

    probability = prune_trees(forest, error, charge, warm)[2]
    for h in np.flatnonzero(forest.is_split):
        ends = [
            sum(tree_value(forest, r, error, charge + d, warm) for r in roots) for d in steps_at(h, forest)
        ]
        assert probability[h] == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-6)


def steps_at(h, forest):
    """A small step down and one up, in the direction of node h."""
    return np.outer([-1e-6, 1e-6], np.arange(forest.n_nodes) == h)


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(5))
def test_shares_add_up_to_prices(seed):
    problem = random_case(seed).problem
    rng = np.random.default_rng(seed)
    relevant = relevant_uses(problem)
    rows, sources = rows_of(problem, relevant), range(problem.n_sources)
    potential = rng.integers(-5000, 5000, relevant.size).astype(np.int32)
    level = rng.integers(0, 256, relevant.size).astype(np.uint8)
    rows.restart(potential)
    paid, counts = rows.share(level, 0)
    weight, block = weights(potential, rows.powers), rows.blocks[0]
    beta = np.zeros(problem.n_incidences)
    for s in sources:
        row_kernels.write_shares(s, block.uses, block.rows, weight, 1.0, problem.use_start[relevant], beta)

    total = np.zeros((problem.n_sources, problem.n_examples))
    highest = np.zeros(total.shape, dtype=int)
    for k, level_of_use, paid_at_use in zip(relevant, level, paid, strict=True):
        h, incidences = problem.use_node[k], slice(problem.use_start[k], problem.use_start[k + 1])
        of_use = problem.order[problem.forest.tree_of_node[h], problem.row_start[h] : problem.row_stop[h]]
        assert paid_at_use == pytest.approx(beta[incidences].sum())
        total[problem.use_source[k], of_use] += beta[incidences]
        highest[problem.use_source[k], of_use] = np.maximum(
            highest[problem.use_source[k], of_use], level_of_use
        )
    units = block.units
    assert np.all(total <= units * (1 + 1e-15))
    is_used = total > 0
    assert total[is_used] == pytest.approx(np.broadcast_to(units, total.shape)[is_used])
    assert np.array_equal(rows.count(level), add_up(highest, units, 256))
    assert np.array_equal(counts, add_up(-(-highest // 4), units, 65))

    audited, overpaid = rows.audit(potential)
    assert np.array_equal(audited, paid)
    assert np.all(overpaid <= 1e-15 * units.sum())


def add_up(number, units, n_bins):
    """Exact sums of integers by number, row by row."""
    bins = np.zeros((len(number), n_bins), np.int64)
    for of_source, added in zip(number, bins, strict=True):
        np.add.at(added, of_source, units)
    return bins


@pytest.mark.uncompiled
def test_the_audit_finds_what_a_pair_pays_beyond_its_price():
    """As long as shares are in proportion to weights, only a row that is heavier than it was can pay less."""
    units = np.full(3, 1000)
    arrays = np.array([0, 2]), np.array([0, 1], np.int32), np.array([0, 3]), np.array([3, 6])
    rows = np.array([0, 1, 2, 0, 1, 2], np.uint16)
    weight = np.array([1.0, 3.0])
    paid, overpaid = np.zeros(2, np.int64), np.zeros(1, np.int64)
    row_kernels.audit_shares(0, 1, row_kernels.UseRows(*arrays, units), rows, weight, paid, overpaid)
    assert paid.tolist() == [750, 2250]
    assert overpaid.tolist() == [0]
    # 1/3 + 2/3 of an odd number beyond 2**53 rounds to more than the whole.
    units, weight = np.full(3, 2**60 + 2**8 - 1), np.array([1.0, 2.0])
    paid[:] = 0
    row_kernels.audit_shares(0, 1, row_kernels.UseRows(*arrays, units), rows, weight, paid, overpaid)
    assert overpaid[0] == max(0, int(paid.sum()) - 3 * (2**60 + 2**8 - 1))
    assert paid.sum() == pytest.approx(3 * 2.0**60)


@pytest.mark.uncompiled
def test_weights_are_powers_of_two_and_never_vanish():
    potential = np.array([0, STEPS_PER_DOUBLING, -STEPS_PER_DOUBLING // 2, -(2**31) + 1], np.int32)
    weight = weights(potential, fractional_powers())
    assert weight[:3] / weight[0] == pytest.approx([1.0, 2.0, 2**-0.5], rel=1e-15)
    assert 0 < weight[3] < 1e-250


@pytest.mark.uncompiled
def test_steps_get_shorter_but_never_vanish():
    lengths = [step_length(n) for n in range(1000)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == 1
    assert levels(np.array([0.0, 1e-9, 0.5, 1.0])).tolist() == [0, 1, 128, N_LEVELS]


@pytest.mark.uncompiled
@pytest.mark.parametrize("largest", [1e-300, 0.7, 1.0, 3.0, 1e300])
@pytest.mark.parametrize("n_rows", [1, 2, 1000, 1 << 20])
def test_units_of_weight_use_the_range_of_integers(n_rows, largest):
    unit = int(as_units(np.array([largest]), units_of_weight(n_rows, largest))[0])
    assert 2 ** (BITS - 3) < n_rows * unit <= 2**BITS
