"""Divide and conquer over levels: the critical level of each block.

A slice is a set of blocks and pairs whose critical levels lie in one interval. Its density is the level at
which keeping all of it is worth as much as keeping nothing. At that level, a maximum flow shows whether a
part of the slice is worth more. If not, the density is the critical level of the whole slice. Otherwise the
slice is cut in two, one for the levels above and one for those below, and each starts from its present flow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from budgetprune.errors import SolverError
from budgetprune.solvers.parametric.kernels import Network, set_level
from budgetprune.solvers.parametric.search_kernels import push_rounds
from budgetprune.solvers.parametric.slice_kernels import mark_worthwhile, split

# Levels are tested slightly above their value, so that parts whose gain equals their cost are not kept. If
# gains and prices are small integers, densities differ by far more than this factor.
SLIGHTLY_ABOVE = 1 + 2.0**-48

# Python runs after each round of a slice with more pairs, so that long work can be interrupted.
MANY_PAIRS = 20_000


def at_density(gain: float, cost: float, low: float, high: float, spent: float = 0.0) -> float | None:
    """Test the density of the slice. This finds every breakpoint."""
    return gain / cost if gain > 0 and cost > 0 else None


class Part(NamedTuple):
    """Blocks and pairs, as ranges of two permutations, that are kept at `low` and pruned at `high`.

    `spent` is the cost of all that is kept at `high`.
    """

    first_block: int
    last_block: int
    first_pair: int
    last_pair: int
    low: float
    high: float
    spent: float


# Given gain, cost, interval and `spent` of a slice: the next level to test, or None to stop dividing it.
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
    worthwhile : bool array
        Whether the block gains more than it costs right below its critical level.
    breaks_even : bool
        Whether each part that was not resolved has no gain. For a complete path, it has one only if the
        limits are wrong.
    tested : list of float
        Levels at which the kept set is known exactly.
    """

    critical: NDArray[np.float64]
    routed: NDArray[np.float64]
    worthwhile: NDArray[np.bool_]
    breaks_even: bool
    tested: list[float]


def find_levels(
    net: Network,
    gain: NDArray[np.int64],
    unit: float,
    choose: Choice,
    progress: tqdm[Any],
    limits: tuple[float, float] = (0.0, np.inf),
) -> Levels:
    """Find the critical level of every block, as finely as `choose` requires; `resolve_ties` comes next.

    Parameters
    ----------
    net : Network
        Without flow; afterwards it has the flow of the solution.
    gain : int64 array
        Of each block, in units of flow.
    unit : float
        Units of flow to a unit of error.
    choose : callable
        Selects the levels to test: all breakpoints, a grid, or a single level.
    progress : tqdm
        Counts blocks.
    limits : (low, high)
        All blocks are kept at `low` and pruned at `high`.
    """
    price = np.asarray(net.price)
    n_blocks, n_pairs = len(gain), len(price)
    blocks, pairs = np.arange(n_blocks, dtype=np.int32), np.arange(n_pairs, dtype=np.int32)
    critical, routed = np.zeros(n_blocks), np.full(n_blocks, np.nan)
    worthwhile = np.zeros(n_blocks, np.bool_)
    tested: list[float] = []
    n_slices, breaks_even = 1, True
    todo = [Part(0, n_blocks, 0, n_pairs, *limits, 0.0)] if n_blocks else []
    while todo:
        part = todo.pop()
        here = blocks[part.first_block : part.last_block]
        paid = pairs[part.first_pair : part.last_pair]
        value, cost = gain[here].sum() / unit, price[paid].sum() / unit
        level = choose(value, cost, part.low, part.high, part.spent)
        if level is None:
            # At `low` the slice is kept, except for parts that break even.
            critical[here] = part.high
            breaks_even &= bool(value == 0)
            mark_worthwhile(net, here, paid, part.low * SLIGHTLY_ABOVE, worthwhile)
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
            raise SolverError(
                "a maximum flow found no cut of a slice that has one; please report this as a bug."
            )
        b, p = part.first_block + b, part.first_pair + p
        if b < part.last_block:
            spent = part.spent + price[pairs[part.first_pair : p]].sum() / unit
            todo.append(part._replace(first_block=b, first_pair=p, high=level, spent=spent))
        todo.append(part._replace(last_block=b, last_pair=p, low=level))
    return Levels(critical, routed, worthwhile, breaks_even, tested)


def route(net: Network, blocks: NDArray[np.int32], pairs: NDArray[np.int32], level: float) -> bool:
    """Absorb as much of a slice's gain as its pairs can at a level; return whether that is all of it.

    If it is not, the blocks and pairs that cannot reach the sink are worth keeping; see their heights.
    """
    set_level(net, pairs, level * SLIGHTLY_ABOVE)
    rounds = 1 if len(pairs) > MANY_PAIRS else 1000
    while not push_rounds(net, blocks, pairs, rounds):
        pass
    return not np.asarray(net.excess)[blocks].any()
