"""Kernels of the exact solver against slow, obvious twins."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune import Forest
from budgetprune.solvers.parametric.graph import ALWAYS, NEVER, build_closure
from budgetprune.solvers.parametric.graph_kernels import contract
from budgetprune.solvers.parametric.kernels import Network, discharge, set_level
from budgetprune.solvers.parametric.levels import route
from budgetprune.solvers.parametric.search_kernels import search
from budgetprune.solvers.parametric.slice_kernels import split

from ..oracles import prunings_below
from ..strategies import cases, drawn_forests, examples, generators

pytestmark = [pytest.mark.uncompiled, pytest.mark.usefixtures("one_thread")]


UNREACHED = 2**30


# --- Search -------------------------------------------------------------------------------------------------


def arcs_of(net: Network, u: int) -> range:
    return range(net.arc_start[u], net.arc_stop[u])


def slow_heights(net: Network, blocks: np.ndarray) -> dict[int, int]:
    """Steps from each block to the sink that still have room, by search from one block after another."""
    here = set(blocks.tolist())
    suppliers: dict[int, set[int]] = {}
    for u in here:
        for a in arcs_of(net, u):
            if net.flow[a] > 0:
                suppliers.setdefault(net.arc_pair[a], set()).add(u)

    def touches_sink(u: int) -> bool:
        pairs = [net.arc_pair[a] for a in arcs_of(net, u)]
        return net.room[u] > 0 or any(net.load[j] < net.capacity[j] for j in pairs)

    def next_blocks(u: int) -> set[int]:
        """The parent takes anything; a pair, or a child, hands back what it was sent."""
        pushed_out = {v for a in arcs_of(net, u) for v in suppliers.get(net.arc_pair[a], ())}
        children = {v for v in here if net.parent[v] == u and net.up[v] > 0}
        return (pushed_out | children | {int(net.parent[u])}) & here

    def height(start: int) -> int:
        seen, layer, steps = {start}, {start}, 1
        while layer:
            if any(touches_sink(u) for u in layer):
                return steps
            layer = set().union(*map(next_blocks, layer)) - seen
            seen |= layer
            steps += 1
        return int(UNREACHED)

    return {u: height(u) for u in here}


def check_search(net: Network, blocks: np.ndarray, pairs: np.ndarray) -> None:
    """Search gives all blocks their heights, and pairs those of their lowest suppliers."""
    reached = search(net, blocks, pairs)
    expected = slow_heights(net, blocks)
    assert {u: net.height[u] for u in blocks.tolist()} == expected
    assert reached == sum(steps < UNREACHED for steps in expected.values())
    for j in pairs:
        arcs = [(u, a) for u in blocks for a in arcs_of(net, u) if net.arc_pair[a] == j]
        lowest = [net.height[u] for u, a in arcs if net.flow[a] > 0]
        if net.load[j] < net.capacity[j]:
            assert net.pair_height[j] == 0
        elif lowest:
            assert net.pair_height[j] == min(lowest)


@given(cases, st.lists(st.tuples(st.floats(0, 1.2), st.integers(1, 20)), min_size=1, max_size=4))
@examples(60)
def test_search_finds_the_distances(case, steps):
    """In whatever state levels and unfinished work leave the flow; and in both parts of a slice."""
    closure = build_closure(case.problem)
    if not len(closure.top):
        return
    net = Network(
        closure.parent, closure.gain, closure.arc_start, closure.arc_pair, closure.price * closure.unit
    )
    blocks, pairs = np.arange(len(closure.top), dtype=np.int32), np.arange(len(net.price), dtype=np.int32)
    largest = case.problem.path().lam[-1]
    for share, limit in steps:
        set_level(net, pairs, share * largest)
        check_search(net, blocks, pairs)
        discharge(net, blocks, limit)
        check_search(net, blocks, pairs)
    if not route(net, blocks, pairs, largest / 2):
        b, p = split(net, blocks, pairs, 1)
        check_search(net, blocks[:b], pairs[:p])
        check_search(net, blocks[b:], pairs[p:])
        set_level(net, pairs[:p], largest)
        check_search(net, blocks[:b], pairs[:p])


@given(cases, st.lists(st.floats(0, 1.2), min_size=1, max_size=4))
@examples(60)
def test_flow_is_neither_lost_nor_made_up(case, levels):
    """All gain of a block is waiting, absorbed by it, or sent on; pairs hold what they were sent."""
    closure = build_closure(case.problem)
    net = Network(
        closure.parent, closure.gain, closure.arc_start, closure.arc_pair, closure.price * closure.unit
    )
    blocks, pairs = np.arange(len(closure.top), dtype=np.int32), np.arange(len(net.price), dtype=np.int32)
    largest = case.problem.path().lam[-1]
    names = ("flow", "load", "capacity", "up", "excess", "room", "parent", "arc_pair")
    flow, load, capacity, up, excess, room, parent, arc_pair = (np.asarray(getattr(net, n)) for n in names)
    for level in levels:
        absorbed = route(net, blocks, pairs, level * largest)
        assert absorbed == (not excess.any())
        received = np.zeros_like(load)
        np.add.at(received, arc_pair, flow)
        np.testing.assert_array_equal(load, received)
        assert np.all(load <= capacity)
        for u in blocks:
            sent = up[u] + sum(flow[a] for a in arcs_of(net, u))
            given = up[parent == u].sum()
            filled = max(-closure.gain[u], 0) - room[u]
            assert max(closure.gain[u], 0) + given == excess[u] + sent + filled
        for values in (flow, up, excess, room):
            assert np.all(values >= 0)


# --- Contraction --------------------------------------------------------------------------------------------


def random_gains(forest: Forest, rng: np.random.Generator) -> tuple[Forest, np.ndarray, np.ndarray]:
    """A forest, which of its splits are paid for, and whole gains of any sign."""
    is_paid = forest.is_split & (rng.random(forest.n_nodes) < 0.5)
    return forest, is_paid, rng.integers(-3, 5, forest.n_nodes) * forest.is_split


paid_trees = st.builds(random_gains, drawn_forests, generators)


@given(paid_trees)
@examples(150)
def test_contract_follows_its_rules(tree):
    forest, is_paid, gain = tree
    block_of, top, parent, block_gain = contract(forest.parent, forest.left, forest.right, is_paid, gain)

    @cache
    def best(h: int, free_only: bool) -> int:
        """Most that the subtree of h can gain if all of it is free, or if only its free part is kept."""
        if not forest.is_split[h] or (free_only and is_paid[h]):
            return 0
        return max(0, int(gain[h]) + best(forest.left[h], free_only) + best(forest.right[h], free_only))

    def rule(h: int) -> int:
        """ALWAYS, NEVER, or the top of the block that h belongs to."""
        above = ALWAYS if forest.parent[h] < 0 else rule(forest.parent[h])
        if best(h, False) == 0 or above == NEVER:
            return NEVER
        if above == ALWAYS and best(h, True) > 0:
            return ALWAYS
        return above if above >= 0 and not is_paid[h] and gain[h] >= 0 else h

    expected = [rule(h) for h in range(forest.n_nodes)]
    assert [top[b] if b >= 0 else b for b in block_of] == expected
    assert top.tolist() == [h for h in range(forest.n_nodes) if expected[h] == h]
    for b, h in enumerate(top):
        assert block_gain[b] == gain[block_of == b].sum()
        assert parent[b] == max(-1, block_of[forest.parent[h]] if forest.parent[h] >= 0 else -1)


@given(paid_trees, generators)
@examples(100)
def test_nothing_is_lost_by_deciding_in_blocks(tree, rng):
    """Whatever the paid splits cost, some best pruning keeps all or nothing of each block."""
    forest, is_paid, gain = tree
    block_of = contract(forest.parent, forest.left, forest.right, is_paid, gain)[0]
    price = rng.integers(0, 5, forest.n_nodes) * is_paid

    def respects_blocks(splits: list[int], nodes: range) -> bool:
        stays = {h: h in splits for h in nodes if block_of[h] != NEVER}
        wholes = {(block_of[h], stay) for h, stay in stays.items()}
        is_split_up = len(wholes) > len({block for block, _ in wholes})
        return not is_split_up and (ALWAYS, False) not in wholes and stays.keys() >= set(splits)

    for root, end in pairwise(forest.tree_start):
        prunings = prunings_below(forest, root)
        worth = [(gain - price)[splits].sum() for splits in prunings]
        in_blocks = [w for w, s in zip(worth, prunings, strict=True) if respects_blocks(s, range(root, end))]
        assert max(in_blocks) == max(worth)
