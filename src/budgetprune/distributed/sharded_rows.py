"""`ShardedRows`: the rows of all shards, as the iterations of the primal-dual solver see them."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.distributed.engine import Call, Engine
from budgetprune.distributed.shard import EXACT_BITS, MOST_ROWS, Sample, ShardPlan, Usage
from budgetprune.errors import InvalidInputError
from budgetprune.problem import RoutedRows, sort_rows
from budgetprune.solvers import RowSums, fractional_powers, units_of_weight


class ShardedRows:
    """Rows of a problem, divided among the workers of an engine.

    It keeps what a new worker needs to take the place of a lost one: the calls that load its rows, and the
    potentials, which are the sum of all steps so far.

    Parameters
    ----------
    engine : Engine
    plan : ShardPlan

    Attributes
    ----------
    class_counts : int64 array of shape (n_classes,)
        Number of rows of each class, if errors are measured on the rows.
    n_units : int
        Total weight of the rows, in units.
    acquired : int64 array of shape (n_sources,)
        Weights of the rows that the whole forest acquires each source for.
    """

    def __init__(self, engine: Engine, plan: ShardPlan) -> None:
        self.engine, self.plan, n_rows = engine, plan, plan.rows.n_rows
        engine.start(plan, n_rows)
        largest, self.class_counts = self._survey()
        self._power = units_of_weight(n_rows, largest)
        # Sums over the rows of a block must be exact in floats, and sums over all rows in integers.
        bits = min(EXACT_BITS - math.ceil(math.log2(MOST_ROWS)), 62 - math.ceil(math.log2(max(n_rows, 2))))
        self._tally_power = bits - math.frexp(largest)[1]
        self.n_units, self.acquired = 0, np.zeros(plan.costs.n_sources, np.int64)
        self._potential: NDArray[np.int32] | None = None
        self._setup: tuple[Call, ...] = ()

    def _survey(self) -> tuple[float, NDArray[np.int64]]:
        if self.plan.columns.weight is None and not self.plan.has_errors:
            return 1.0, np.zeros(0, np.int64)
        surveys = list(self.engine.call("survey"))
        largest = max(survey.largest_weight for survey in surveys)
        if not largest > 0:
            raise InvalidInputError(
                f"all weights in column {self.plan.columns.weight!r} are 0; at least one row must count."
            )
        return largest, np.sum([survey.class_counts for survey in surveys], axis=0)

    def load(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Load all rows; return the weight of each class at each node, and of all rows, if needed."""
        load = Call("load", (self._power, self._tally_power))
        tally = reached = None
        for loaded in self.engine.call(load.method, *load.arguments):
            self.n_units += loaded.n_units
            self.acquired += loaded.acquired
            tally = loaded.tally if tally is None else tally + loaded.tally
            reached = loaded.reached if reached is None else reached + loaded.reached
        self._setup = (load,)
        self.engine.set_state(*self._setup)
        return self._in_weights(tally), self._in_weights(reached)

    def _in_weights(self, units: NDArray[np.int64] | None) -> NDArray[np.float64] | None:
        return None if units is None else np.ldexp(units.astype(np.float64), -self._tally_power)

    def select(self, is_relevant: NDArray[np.bool_]) -> None:
        """Keep only the relevant uses, given as a mask of all uses, sorted by source."""
        select = Call("select", (is_relevant, fractional_powers()))
        self._do(select)
        self._setup = (*self._setup, select)
        self.engine.set_state(*self._setup)

    def _do(self, call: Call) -> None:
        for _ in self.engine.call(call.method, *call.arguments):
            pass

    # --- Iterations -----------------------------------------------------------------------------------------

    def restart(self, potential: NDArray[np.int32]) -> None:
        """Set the potentials."""
        self._do(Call("restart", (potential,)))
        self._remember(potential)

    def _remember(self, potential: NDArray[np.int32]) -> None:
        self._potential = potential
        self.engine.set_state(*self._setup, Call("restart", (potential,)))

    def share(self, level: NDArray[np.uint8], step: int) -> RowSums:
        """Increase the potential of each use by `step` times its level, share the prices, and add up."""
        assert self._potential is not None, "restart has not been called"
        paid = counts = None
        for more_paid, more_counts in self.engine.call("share", level, step):
            if paid is None:
                paid, counts = np.array(more_paid), np.array(more_counts)
            else:
                paid += more_paid
                counts += more_counts
        assert paid is not None
        assert counts is not None
        self._remember(self._potential + step * level.astype(np.int32))
        return RowSums(paid, counts)

    def count(self, level: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Weight of the rows by source and highest level among their uses."""
        return self._added("count", level)[0]

    def count_again(self, used: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Weight of the rows that acquire each source, for any uses; the rows are read again."""
        return self._added("count_again", used)[0]

    def audit(self, potential: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Recompute the payments of all uses, and by source what they exceed the prices by."""
        paid, overpaid = self._added("audit", potential)
        return paid, overpaid

    def _added(self, method: str, *arguments: Any) -> list[NDArray[np.int64]]:
        total: list[NDArray[np.int64]] = []
        for result in self.engine.call(method, *arguments):
            parts = result if isinstance(result, tuple) else (result,)
            if not total:
                total = [np.array(part) for part in parts]
            else:
                for into, part in zip(total, parts, strict=True):
                    into += part
        return total

    # --- Others ---------------------------------------------------------------------------------------------

    def sample(self) -> tuple[RoutedRows, NDArray[np.float64]]:
        """Rows of the sample, routed through the trees, and their weights."""
        samples: list[Sample] = sorted(self.engine.call("sample"), key=attrgetter("first"))
        leaf = np.concatenate([sample.leaf for sample in samples], axis=1)
        units = np.concatenate([sample.units for sample in samples])
        return sort_rows(self.plan.forest, np.ascontiguousarray(leaf)), units.astype(np.float64)

    def usage(self) -> list[Usage]:
        """Memory and time of each worker."""
        return list(self.engine.call("usage"))
