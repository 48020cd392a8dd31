"""Rows of a problem, as the kernels take them, and the sums over all of them in this process."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetprune.solvers.primal_dual.potentials import fractional_powers, weights
from budgetprune.solvers.primal_dual.row_kernels import (
    UseRows,
    audit_shares,
    count_rows,
    share_prices,
)
from budgetprune.solvers.primal_dual.search import N_CLASSES, RowSums
from budgetprune.utils.parts import FEWEST_STEPS, in_parts
from budgetprune.utils.threads import kernel_thread_count

# Offsets of each source; number, start and stop of each use.
Entries: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]
Work: TypeAlias = Callable[[int, int, "Block"], None]

# The weights of all rows add up to at most 2 to this power; so do payments, which are exact integers.
BITS = 61
N_COUNTS = 256


@dataclass(frozen=True, eq=False)
class Block:
    """Rows with their uses, sorted by source.

    Attributes
    ----------
    uses : UseRows
    entries : tuple of arrays
        The arrays of `uses`.
    rows : uint16 or uint32 array of shape (n_trees * n_rows,)
    units : int64 array of shape (n_rows,)
        Weight of each row.
    n_incidences, n_bytes : int
    """

    uses: UseRows
    entries: Entries
    rows: NDArray[Any]
    units: NDArray[np.int64]
    n_incidences: int
    n_bytes: int

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],
        first: NDArray[np.int64],
        size: NDArray[np.int64],
        source: NDArray[np.int32],
        n_sources: int,
        units: NDArray[np.int64],
    ) -> Block:
        """List the uses that any row makes.

        Parameters
        ----------
        rows : uint16 or uint32 array
        first, size : of each relevant use
            The use is by ``rows[first:first + size]``.
        source : of each relevant use, ascending
        units : int64 array of shape (n_rows,)
        """
        use = np.flatnonzero(size).astype(np.int32)
        start = first[use]
        stop = start + size[use]
        source_start = np.searchsorted(source[use], np.arange(n_sources + 1))
        return cls._of_entries((source_start, use, start, stop), rows, units)

    @classmethod
    def _of_entries(cls, entries: Entries, rows: NDArray[Any], units: NDArray[np.int64]) -> Block:
        n_bytes = sum(array.nbytes for array in (*entries, rows, units))
        n_incidences = int((entries[3] - entries[2]).sum())
        return cls(UseRows(*entries, units), entries, rows, units, n_incidences, n_bytes)

    def select(self, is_relevant: NDArray[np.bool_], number: NDArray[np.int32]) -> Block:
        """Keep only some of the uses, and give them other numbers.

        Parameters
        ----------
        is_relevant : bool array of shape (n_uses,)
        number : int32 array of shape (n_uses,)
            The new number of each relevant use.
        """
        source_start, use, start, stop = self.entries
        is_kept = is_relevant[use]
        kept_before = np.concatenate([[0], np.cumsum(is_kept)])
        entries = kept_before[source_start], number[use[is_kept]], start[is_kept], stop[is_kept]
        return self._of_entries(entries, self.rows, self.units)


def units_of_weight(n_rows: int, largest: float) -> int:
    """Power of two that converts weights to units: their sum fits in BITS bits."""
    return BITS - math.ceil(math.log2(max(n_rows, 1))) - math.frexp(largest)[1]


def as_units(weight: NDArray[np.float64], power: int) -> NDArray[np.int64]:
    """Convert weights to units; exact if they are integers of moderate size."""
    return np.rint(np.ldexp(weight, power)).astype(np.int64)


class BlockRows:
    """Rows in blocks, in this process; a `Rows` of the search.

    Parameters
    ----------
    blocks : sequence of Block
    n_uses : int
        Number of relevant uses.
    n_sources : int
    powers : float64 array, optional
        Those of `fractional_powers`, if another machine has computed them.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        n_uses: int,
        n_sources: int,
        powers: NDArray[np.float64] | None = None,
    ) -> None:
        self.blocks, self.n_sources = tuple(blocks), n_sources
        self.potential = np.zeros(n_uses, dtype=np.int32)
        self.powers = fractional_powers() if powers is None else powers
        # Sums of Python's integers cannot overflow.
        self.n_units = sum(int(block.units.sum()) for block in self.blocks)

    def restart(self, potential: NDArray[np.int32]) -> None:
        """Set the potentials."""
        self.potential = potential

    def share(self, level: NDArray[np.uint8], step: int) -> RowSums:
        """Increase the potential of each use by `step` times its level, share the prices, and add up."""
        if step:
            self.potential = self.potential + step * level.astype(np.int32)
        weight = weights(self.potential, self.powers)
        paid = np.zeros(weight.size, dtype=np.int64)
        counts = np.zeros((self.n_sources, N_CLASSES + 1), dtype=np.int64)
        self._for_each(
            lambda first, last, block: share_prices(
                first, last, block.uses, block.rows, weight, level, paid, counts
            )
        )
        return RowSums(paid, counts)

    def count(self, level: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Weight of the rows by source and highest level among their uses, of shape (n_sources, 256)."""
        counts = np.zeros((self.n_sources, N_COUNTS), dtype=np.int64)
        self._for_each(
            lambda first, last, block: count_rows(first, last, block.uses, block.rows, level, counts)
        )
        return counts

    def audit(self, potential: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Recompute the payments of all uses, and by source what they exceed the prices by."""
        weight = weights(potential, self.powers)
        paid, overpaid = np.zeros(weight.size, np.int64), np.zeros(self.n_sources, np.int64)
        self._for_each(
            lambda first, last, block: audit_shares(
                first, last, block.uses, block.rows, weight, paid, overpaid
            )
        )
        return paid, overpaid

    def _for_each(self, work: Work) -> None:
        """Call a function for all sources of each block, on several threads if that takes long enough."""
        for block in self.blocks:
            n_steps = 2 * block.n_incidences
            if n_steps < FEWEST_STEPS or kernel_thread_count() == 1:
                work(0, self.n_sources, block)
            else:
                in_parts(partial(_one_source, work, block), range(self.n_sources), n_steps)


def _one_source(work: Work, block: Block, s: int) -> None:
    work(s, s + 1, block)
