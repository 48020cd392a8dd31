"""`Shard`: some of the rows of a problem, and all that is computed from them. One worker holds one shard."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.distributed.columns import Columns, Part
from budgetprune.distributed.tables import Rows
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import (
    RoutedRows,
    as_targets,
    first_use_splits,
    reached_weight,
    sort_rows,
    tally_rows,
)
from budgetprune.solvers import Block, BlockRows, as_units

# Rows of a block have 16-bit numbers.
MOST_ROWS = 2**16
FEWEST_ROWS = 2**12
# Rows of a block for each use of a tree: with fewer, reading the uses takes longer than reading the rows.
ROWS_PER_USE = 4
# A float holds sums of integers exactly up to 2 to this power.
EXACT_BITS = 53


@dataclass(frozen=True, eq=False)
class ShardPlan:
    """Description of a problem that each worker gets.

    Attributes
    ----------
    forest : Forest
        Without its original model.
    costs : CostTable
    rows : Rows
    columns : Columns
    block_rows : int
    has_errors : bool
        Whether node errors are measured on these rows.
    has_computation : bool
        Whether the rows that reach each node are counted.
    sample : int64 array
        Numbers of the rows in the sample, ascending.
    """

    forest: Forest
    costs: CostTable
    rows: Rows
    columns: Columns
    block_rows: int
    has_errors: bool
    has_computation: bool
    sample: NDArray[np.int64]


def block_size(n_uses: int, n_trees: int) -> int:
    """Rows of a block: so many that reading the uses does not dominate, and few enough for the caches."""
    wanted = ROWS_PER_USE * n_uses // max(n_trees, 1)
    return min(MOST_ROWS, max(FEWEST_ROWS, 1 << max(wanted - 1, 1).bit_length()))


class Survey(NamedTuple):
    """What must be known of all rows before they are loaded: their largest weight and their classes."""

    largest_weight: float
    class_counts: NDArray[np.int64]


class Loaded(NamedTuple):
    """Sums over the rows of a shard after loading.

    Attributes
    ----------
    n_units : int
    acquired : int64 array of shape (n_sources,)
        Weights of the rows that the whole forest acquires each source for.
    tally : int64 array of shape (n_nodes, n_classes), or None
        Weights of the rows of each class at each node, in units of 2 ** -power.
    reached : int64 array of shape (n_nodes,), or None
        Weights of the rows that reach each node.
    """

    n_units: int
    acquired: NDArray[np.int64]
    tally: NDArray[np.int64] | None
    reached: NDArray[np.int64] | None


class Sample(NamedTuple):
    """Rows of the sample in a shard.

    Attributes
    ----------
    first : number of the first row of the shard
    leaf : int32 array of shape (n_trees, n_rows)
        Leaves that the rows reach.
    units : int64 array of shape (n_rows,)
    """

    first: int
    leaf: NDArray[np.int32]
    units: NDArray[np.int64]


class Usage(NamedTuple):
    """Size of a shard, in bytes and in numbers."""

    n_rows: int
    n_incidences: int
    n_bytes: int
    peak_memory: int
    seconds: float


class Shard:
    """The rows from `first` to `last` of a problem.

    Methods are called by name, in this order: `survey`, `load`, `select`, and then any of the others.
    """

    def __init__(self, plan: ShardPlan, first: int, last: int) -> None:
        self.plan, self.first, self.last = plan, first, last
        self._blocks: list[Block] = []
        self._rows: BlockRows | None = None
        self._sample: list[Sample] = []
        self._seconds, self._power = 0.0, 0
        node, source = first_use_splits(plan.forest, plan.costs)
        by_source = np.argsort(source, kind="stable")
        self._node, self._source = node[by_source], source[by_source]

    def survey(self) -> Survey:
        """Read targets and weights."""
        plan, forest = self.plan, self.plan.forest
        largest, counts = 0.0, np.zeros(len(forest.classes) if forest.classes is not None else 0, np.int64)
        columns = Columns((), plan.columns.target, plan.columns.weight)
        for name, table in plan.rows.read(self.first, self.last, columns.names, MOST_ROWS):
            largest = max(largest, float(columns.weight_of(table, name).max()))
            target = columns.target_of(table)
            if target is not None and plan.has_errors:
                number = as_targets(forest, target, len(target), f"column {columns.target!r} in {name}")
                counts += np.bincount(number, minlength=counts.size)
        return Survey(largest, counts)

    def load(self, power: int, tally_power: int) -> Loaded:
        """Route the rows, and list their uses.

        Parameters
        ----------
        power : weights are counted in units of 2 ** -power
        tally_power : the same for sums at nodes, which take the range of a float
        """
        plan, forest = self.plan, self.plan.forest
        self._blocks, self._sample, self._power, n_units = [], [], power, 0
        acquired = np.zeros(plan.costs.n_sources, np.int64)
        tally = reached = None
        at = self.first
        for part, leaf, units in self._routed():
            self._take_sample(leaf, units, at)
            rows = sort_rows(forest, leaf)
            if plan.has_errors:
                target = as_targets(forest, part.target, len(part.X), f"column {plan.columns.target!r}")
                weight = as_units(part.weight, tally_power).astype(np.float64)
                tally = add(tally, tally_rows(forest, rows, target, weight))
            if plan.has_computation:
                weight = as_units(part.weight, tally_power).astype(np.float64)
                reached = add(reached, reached_weight(forest, rows, weight))
            block = self._block(rows, units)
            acquired += self._acquired(block, np.ones(self._node.size, np.uint8))
            self._blocks.append(block)
            n_units += int(units.sum())
            at += len(part.X)
        if at != self.last:
            raise InvalidInputError(
                f"{plan.rows!r} has {at - self.first} rows from {self.first} on, "
                f"not {self.last - self.first}."
            )
        return Loaded(n_units, acquired, tally, reached)

    def _routed(self) -> Iterator[tuple[Part, NDArray[np.int32], NDArray[np.int64]]]:
        """Read the rows; yield some of them, with their leaves and weights."""
        plan, forest = self.plan, self.plan.forest
        for part in plan.columns.read(plan.rows, forest, self.first, self.last, plan.block_rows):
            yield part, forest.leaves_by_tree(part.X), as_units(part.weight, self._power)

    def _block(self, rows: RoutedRows, units: NDArray[np.int64]) -> Block:
        offset = self.plan.forest.tree_of_node[self._node].astype(np.int64) * units.size
        return Block.of(
            rows.order.astype(np.uint16).ravel(),
            offset + rows.start[self._node],
            (rows.stop - rows.start)[self._node],
            self._source,
            self.plan.costs.n_sources,
            units,
        )

    def _acquired(self, block: Block, used: NDArray[np.uint8]) -> NDArray[np.int64]:
        rows = BlockRows([block], used.size, self.plan.costs.n_sources)
        return rows.count(used)[:, 1]

    def count_again(self, used: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Weights of the rows that acquire each source; reads the rows again, and takes any uses."""
        acquired = np.zeros(self.plan.costs.n_sources, np.int64)
        for _, leaf, units in self._routed():
            block = self._block(sort_rows(self.plan.forest, leaf), units)
            acquired += self._acquired(block, used.astype(np.uint8))
        return acquired

    def _take_sample(self, leaf: NDArray[np.int32], units: NDArray[np.int64], first: int) -> None:
        begin, end = np.searchsorted(self.plan.sample, [first, first + units.size])
        taken = self.plan.sample[begin:end] - first
        self._sample.append(Sample(first, leaf[:, taken], units[taken]))

    def select(self, relevant: NDArray[np.bool_], powers: NDArray[np.float64]) -> None:
        """Keep only the relevant uses, given as a mask of all uses, sorted by source."""
        number = np.cumsum(relevant, dtype=np.int32) - 1
        n_sources = self.plan.costs.n_sources
        for b, block in enumerate(self._blocks):
            self._blocks[b] = block.select(relevant, number)
        self._rows = BlockRows(self._blocks, int(np.count_nonzero(relevant)), n_sources, powers)

    @property
    def rows(self) -> BlockRows:
        """The rows with their relevant uses."""
        assert self._rows is not None, "select has not been called"
        return self._rows

    def restart(self, potential: NDArray[np.int32]) -> None:
        """Set the potentials."""
        self.rows.restart(potential)

    def share(self, level: NDArray[np.uint8], step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Take a step, share the prices and add up; see `BlockRows.share`."""
        began = time.process_time()
        sums = self.rows.share(level, step)
        self._seconds += time.process_time() - began
        return sums.paid, sums.counts

    def count(self, level: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Weight of the rows by source and level, without the bins above the highest level."""
        counts = self.rows.count(level)
        return counts[:, : int(level.max(initial=0)) + 1]

    def audit(self, potential: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Payments and overpayments for a certificate."""
        return self.rows.audit(potential)

    def sample(self) -> Sample:
        """Rows of the sample."""
        leaf = np.concatenate([part.leaf for part in self._sample], axis=1)
        return Sample(self.first, leaf, np.concatenate([part.units for part in self._sample]))

    def usage(self) -> Usage:
        """Memory and processor time so far."""
        n_incidences = sum(block.n_incidences for block in self._blocks)
        n_bytes = sum(block.n_bytes for block in self._blocks)
        return Usage(self.last - self.first, n_incidences, n_bytes, peak_memory(), self._seconds)


def add(total: NDArray[np.int64] | None, more: NDArray[np.float64]) -> NDArray[np.int64]:
    """Add floats that are integers to exact sums."""
    added = more.astype(np.int64)
    return added if total is None else total + added


def peak_memory() -> int:
    """Largest resident memory of this process so far, in bytes; 0 where it is unknown."""
    try:
        # `ru_maxrss` is inherited from the parent process; this is not.
        with open("/proc/self/status", encoding="ascii") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
