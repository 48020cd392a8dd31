"""Divide and conquer over levels: the critical level of each block.

A slice is a set of blocks and pairs whose critical levels lie in one interval. At the level where keeping all
of it is worth exactly as much as keeping nothing, either nothing of it is worth more: then that level is
critical for the whole slice. Or a part is, and the slice falls into two smaller ones, one for the levels
above and one for those below, each with a flow to start from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from budgetprune.errors import SolverError
from budgetprune.solvers.parametric.discharge import discharge, set_level
from budgetprune.solvers.parametric.network import Network
from budgetprune.solvers.parametric.search import search
from budgetprune.solvers.parametric.slices import mark_worthwhile, split
from budgetprune.utils.jit import njit

# Levels are tested a hair above their value, so that what merely breaks even is not kept. Densities of a
# problem in small integers differ by far more than this.
HAIR = 1 + 2.0**-48

# Slices with fewer pairs are searched by one thread.
WORTH_SHARING = 20_000


def at_density(gain: float, cost: float, low: float, high: float, spent: float = 0.0) -> float | None:
    """Test where all of the slice and nothing of it are worth the same: this asks for every breakpoint."""
    return gain / cost if gain > 0 and cost > 0 else None


class Slice(NamedTuple):
    """Blocks and pairs, as ranges of two permutations, that are kept at `low` and pruned at `high`.

    What is kept at `high` already has cost `spent`.
    """

    first_block: int
    last_block: int
    first_pair: int
    last_pair: int
    low: float
    high: float
    spent: float


# Given gain, cost, interval and `spent` of a slice: the next level to test, or None to leave the slice alone.
Choice = Callable[[float, float, float, float, float], float | None]


@dataclass(frozen=True)
class Levels:
    """Result of a run, per block.

    Attributes
    ----------
    critical : float64 array
        The block is kept below this level. Exact where the slice was resolved, else the lowest level tested
        at which the block is pruned.
    routed : float64 array
        Level at which the flow of the block's slice fills its pairs, if the slice was resolved (else NaN).
    tested : list of float
        Levels at which the kept set is known exactly.
    """

    critical: NDArray[np.float64]
    routed: NDArray[np.float64]
    tested: list[float]


def find_levels(
    net: Network, gain: NDArray[np.int64], unit: float, choose: Choice, verbose: bool = False
) -> Levels:
    """Find the critical level of every block, as finely as `choose` asks for.

    Parameters
    ----------
    net : Network
        Without flow; holds the flow of the answer afterwards.
    gain : int64 array
        Of each block, in units of flow.
    unit : float
        Units of flow to a unit of error.
    choose : callable
        Complete lists of breakpoints, grids of levels and single levels differ in nothing else.
    """
    n_blocks, n_pairs = len(gain), len(net.price)
    blocks, pairs = np.arange(n_blocks, dtype=np.int32), np.arange(n_pairs, dtype=np.int32)
    critical, routed = np.zeros(n_blocks), np.full(n_blocks, np.nan)
    worthwhile = np.zeros(n_blocks, np.bool_)
    tested: list[float] = []
    n_slices = 1
    todo = [Slice(0, n_blocks, 0, n_pairs, 0.0, np.inf, 0.0)] if n_blocks else []
    with tqdm(total=n_blocks, desc="path", unit="split", disable=not verbose) as progress:
        while todo:
            part = todo.pop()
            here = blocks[part.first_block : part.last_block]
            paid = pairs[part.first_pair : part.last_pair]
            value, cost = gain[here].sum() / unit, net.price[paid].sum() / unit
            level = choose(value, cost, part.low, part.high, part.spent)
            if level is None:
                # At `low` the slice is kept, but for what merely breaks even.
                critical[here] = part.high
                mark_worthwhile(net, here, paid, part.low * HAIR, worthwhile)
                progress.update(len(here))
                continue
            absorbed = route(net, here, paid, level)
            progress.set_postfix(slices=n_slices, tested=len(tested), refresh=False)
            progress.update(0)
            resolves = level == at_density(value, cost, part.low, part.high)
            if absorbed and resolves:
                critical[here] = routed[here] = level
                mark_worthwhile(net, here, paid, 0.0, worthwhile)
                tested.append(level)
                progress.update(len(here))
                continue
            tested.append(level)
            if absorbed:
                todo.append(part._replace(high=level))
                continue
            n_slices += 1
            b, p = split(net, here, paid, n_slices)
            if resolves and not 0 < b < len(here):
                raise SolverError("a slice could not be cut at its own density; please report this.")
            b, p = part.first_block + b, part.first_pair + p
            if b < part.last_block:
                spent = part.spent + net.price[pairs[part.first_pair : p]].sum() / unit
                todo.append(part._replace(first_block=b, first_pair=p, high=level, spent=spent))
            todo.append(part._replace(last_block=b, last_pair=p, low=level))
    settle_ties(net.parent, net.up, worthwhile, critical)
    return Levels(critical, routed, tested)


def route(net: Network, blocks: NDArray[np.int32], pairs: NDArray[np.int32], level: float) -> bool:
    """Absorb as much of a slice's gain as its pairs can at a level; return whether that is all of it.

    If it is not, the heights tell the parts: what cannot reach the sink is worth keeping.
    """
    set_level(net, pairs, level * HAIR)
    is_large = len(pairs) > WORTH_SHARING
    threads, rounds = (numba.get_num_threads(), 1) if is_large else (1, 1000)
    while not push_rounds(net, blocks, pairs, threads, rounds):
        pass  # back here between rounds, so that long work can be interrupted
    return not net.excess[blocks].any()


@njit(cache=True)
def push_rounds(
    net: Network, blocks: NDArray[np.int32], pairs: NDArray[np.int32], threads: int, rounds: int
) -> bool:
    """Search and push in turns; return whether there is nothing left that can move."""
    n_arcs = 0
    for k in range(blocks.size):
        n_arcs += net.arc_stop[blocks[k]] - net.arc_start[blocks[k]]
    for _ in range(rounds):
        search(net, blocks, pairs, threads)
        # Heights go stale as the flow changes; half a look at every arc is when a new search pays off.
        if not discharge(net, blocks, n_arcs // 2 + 2 * blocks.size + 1000):
            return True
    return False


@njit(cache=True)
def settle_ties(
    parent: NDArray[np.int32],
    up: NDArray[np.int64],
    worthwhile: NDArray[np.bool_],
    critical: NDArray[np.float64],
) -> None:
    """Let blocks that break even come along only with those that need them.

    Their descendants may need them as ancestors, further down the path; and then comes whatever helps to
    pay for the ancestor, that is, sends flow up to it.
    """
    for u in range(parent.size):
        if not worthwhile[u]:
            critical[u] = 0.0
    for u in range(parent.size - 1, -1, -1):  # children come after their parents
        if parent[u] >= 0:
            critical[parent[u]] = max(critical[parent[u]], critical[u])
    for u in range(parent.size):
        if up[u] > 0:
            critical[u] = max(critical[u], critical[parent[u]])
