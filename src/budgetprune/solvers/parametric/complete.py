"""The complete path: critical levels of all blocks, from slices that threads solve on their own.

Slices are divided along balanced flows as far as these are clear, and exact flows do the rest. The result
proves itself. If all levels of every slice lie within its limits, levels fall from slice to slice, and the
flow of each fills its pairs at its own level: no other pruning is better at any level. Levels outside of the
limits come from mistaken divisions. Their blocks are joined with all blocks whose levels lie in between, and
solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from budgetprune.solvers.parametric.graph import Closure
from budgetprune.solvers.parametric.levels import at_density, find_levels
from budgetprune.solvers.parametric.partition import FIRST_ROUNDS, balanced, partition, start_network
from budgetprune.solvers.parametric.slice_kernels import resolve_ties
from budgetprune.solvers.parametric.slices import Slice, divide, whole
from budgetprune.utils.threads import work_off

__all__ = ["complete_levels"]

# A mistake is looked for this far beyond the limits of a slice, relative to them; further each time.
FIRST_MARGIN, LARGEST_MARGIN = 0.02, 1.0
# Limits of the whole problem.
EVERYWHERE = (0.0, np.inf)


def complete_levels(closure: Closure, tree: NDArray[np.int32], verbose: bool = False) -> NDArray[np.float64]:
    """Find the critical level of every block.

    Parameters
    ----------
    tree : int32 array of shape (n_blocks,)
        Tree of each block.
    """
    with tqdm(
        total=len(closure.parent), desc="path", unit="split", leave=None, disable=not verbose
    ) as progress:
        search = _Search(closure, progress)
        if len(closure.parent):
            work_off([whole(closure, tree)], search.step)
        while search.is_mistaken:
            search.repair(whole(closure, tree))
    resolve_ties(closure.parent, search.up, search.worthwhile, search.critical)
    return search.critical


@dataclass(frozen=True, eq=False)
class _Step:
    """Blocks with one critical level, and the interval that may have to be solved again.

    The interval is the level alone, unless the level is outside of the limits of its slice.
    """

    block: NDArray[np.int32]
    low: float
    high: float
    is_mistaken: bool


class _Search:
    """Results of the slices that are solved so far.

    Attributes
    ----------
    critical, worthwhile, up
        Of each block: level, as in `Levels`; flow to the parent in the slice where it was solved.
    steps : blocks by level
    margin : distance beyond the limits of a slice where the next mistake is looked for
    """

    def __init__(self, closure: Closure, progress: tqdm[Any]) -> None:
        n_blocks = len(closure.parent)
        self.unit = closure.unit
        self.progress = progress
        self.critical = np.zeros(n_blocks)
        self.worthwhile = np.zeros(n_blocks, np.bool_)
        self.up = np.zeros(n_blocks, np.int64)
        self.steps: list[_Step] = []
        self.margin = FIRST_MARGIN

    @property
    def is_mistaken(self) -> bool:
        """Whether some slice has levels outside of its limits."""
        return any(each.is_mistaken for each in self.steps)

    def step(self, slice_: Slice) -> Sequence[Slice]:
        """Divide a slice, or solve it; return what is left to do."""
        parts, slice_, up = partition(slice_)
        if not parts:
            self.solve(slice_, up)
        return parts

    def solve(self, slice_: Slice, up: NDArray[np.float64]) -> None:
        """Find the levels of a slice by exact flows."""
        net = start_network(slice_, up)
        limits = (slice_.low, slice_.high)
        found = find_levels(net, slice_.gain, self.unit, at_density, self.progress, limits)
        self.critical[slice_.block] = found.critical
        self.worthwhile[slice_.block] = found.worthwhile
        self.up[slice_.block] = np.asarray(net.up)
        level, number = np.unique(found.critical, return_inverse=True)
        order, ends = np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))
        for k, blocks in enumerate(np.split(slice_.block[order], ends[:-1])):
            self.note(blocks, float(level[k]), slice_)
        if not found.breaks_even and limits != EVERYWHERE:
            self.steps.append(
                _Step(
                    slice_.block[:0],
                    slice_.low * (1 - self.margin),
                    slice_.high * (1 + self.margin),
                    is_mistaken=True,
                )
            )

    def note(self, blocks: NDArray[np.int32], level: float, slice_: Slice) -> None:
        """Note the level of some blocks, and what has to be solved again if it is outside of the limits.

        A level far outside usually belongs to blocks that were cut off from others just beyond the limit.
        """
        low = high = level
        if level < slice_.low:
            low, high = max(level, slice_.low * (1 - self.margin)), slice_.low
        elif level > slice_.high:
            low, high = slice_.high, min(level, slice_.high * (1 + self.margin))
        self.steps.append(_Step(blocks, low, high, low < high))

    def repair(self, problem: Slice) -> None:
        """Join each mistaken step with those that its interval overlaps, and solve them together.

        After a few attempts, solve the whole problem.
        """
        if self.margin >= LARGEST_MARGIN:
            self.steps = []
            self.progress.update(-self.progress.n)
            slice_, up, _ = balanced(problem, FIRST_ROUNDS)
            self.solve(slice_, up)
            return
        groups = _join_overlapping(self.steps)
        self.margin *= 4
        part = np.empty(len(problem.block), np.int32)
        for number, group in enumerate(groups):
            for each in group:
                part[each.block] = number
        limits = [
            (number, min(each.low for each in group), max(each.high for each in group))
            for number, group in enumerate(groups)
            if any(each.is_mistaken for each in group)
        ]
        again = {number for number, *_ in limits}
        self.steps = [each for number, group in enumerate(groups) if number not in again for each in group]
        for joined in divide(problem, part, limits, move=False):
            if not joined.block.size:
                continue
            self.progress.update(-len(joined.block))
            slice_, up, _ = balanced(joined, FIRST_ROUNDS)
            self.solve(slice_, up)


def _join_overlapping(steps: Sequence[_Step]) -> list[list[_Step]]:
    """Group steps by rising level, such that intervals of different groups do not overlap."""
    groups: list[list[_Step]] = []
    high = -np.inf
    for each in sorted(steps, key=lambda each: (each.low, each.high)):
        if groups and each.low < high:
            groups[-1].append(each)
        else:
            groups.append([each])
        high = max(high, each.high)
    return groups
