"""Engines call methods of shards, in this process or on other machines, and replace lost shards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from budgetprune.distributed.shard import Shard, ShardPlan
from budgetprune.errors import InvalidInputError, SolverError

# A worker that is lost so often in a row, without any result between, will be lost again.
MOST_LOSSES = 5


class Call(NamedTuple):
    """Method of a shard, and its arguments."""

    method: str
    arguments: tuple[Any, ...] = ()


class WorkerLostError(Exception):
    """A worker ended: its process was killed, ran out of memory, or its machine was removed."""


class Engine(ABC):
    """Workers, each with a shard.

    A lost shard is created again, and gets the calls that set its state. Results are sums of integers, so
    that an answer depends neither on the number of workers nor on losses.

    Parameters
    ----------
    n_workers : int

    Attributes
    ----------
    n_losses : int
        Number of workers that were lost and replaced.
    bytes_sent : int
        Size of all arrays that were sent to workers or back.
    """

    def __init__(self, n_workers: int) -> None:
        if n_workers < 1:
            raise InvalidInputError(f"workers must be at least 1, not {n_workers}.")
        self.n_workers = n_workers
        self.n_losses = self.bytes_sent = 0
        self._state: list[Call] = []

    def start(self, plan: ShardPlan, n_rows: int) -> None:
        """Create the shards: contiguous ranges of rows, of equal length."""
        if self.n_workers > n_rows:
            raise InvalidInputError(f"{self.n_workers} workers are too many for {n_rows} rows; use fewer.")
        bounds = [w * n_rows // self.n_workers for w in range(self.n_workers + 1)]
        self._create(plan, list(pairwise(bounds)))

    def set_state(self, *calls: Call) -> None:
        """Replace the calls that a new worker gets before any other."""
        self._state = list(calls)

    def call(self, method: str, *arguments: Any) -> Iterator[Any]:
        """Call a method of all shards; yield their results in any order."""
        call = Call(method, arguments)
        self.bytes_sent += self.n_workers * size_of(arguments)
        losses = dict.fromkeys(range(self.n_workers), 0)
        waiting = self._submit(range(self.n_workers), call)
        while waiting:
            worker, result = self._next(waiting)
            while isinstance(result, WorkerLostError):
                self.n_losses += 1
                losses[worker] += 1
                if losses[worker] > MOST_LOSSES:
                    raise SolverError(
                        f"worker {worker} was lost {losses[worker]} times in a row ({result}). If it runs "
                        "out of memory, use more workers, or fewer rows."
                    ) from result
                result = self._recover(worker, call)
            self.bytes_sent += size_of(result)
            yield result

    def _recover(self, worker: int, call: Call) -> Any:
        """Replace a worker, bring it to the present state, and repeat the call."""
        try:
            self._replace(worker)
            for each in (*self._state, call):
                result = self._result(worker, each)
        except WorkerLostError as lost:
            return lost
        self.bytes_sent += sum(size_of(each.arguments) for each in (*self._state, call))
        return result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_workers})"

    @abstractmethod
    def _create(self, plan: ShardPlan, ranges: Sequence[tuple[int, int]]) -> None:
        """Create a shard for each range of rows."""

    @abstractmethod
    def _submit(self, workers: Sequence[int], call: Call) -> Any:
        """Begin a call on some workers; return what `_next` takes."""

    @abstractmethod
    def _next(self, waiting: Any) -> tuple[int, Any]:
        """Wait for a result: the worker, and its result or a `WorkerLostError`. Remove it from `waiting`."""

    @abstractmethod
    def _replace(self, worker: int) -> None:
        """Create the shard of a lost worker again."""

    @abstractmethod
    def _result(self, worker: int, call: Call) -> Any:
        """Call a method of one shard, and wait; raise `WorkerLostError` if it is lost."""

    @abstractmethod
    def close(self) -> None:
        """End all workers."""


class LocalEngine(Engine):
    """Shards in this process, one after the other: for tests, and for rows that fit in memory."""

    def __init__(self, n_workers: int = 1) -> None:
        super().__init__(n_workers)
        self._shards: list[Shard] = []

    def _create(self, plan: ShardPlan, ranges: Sequence[tuple[int, int]]) -> None:
        self._shards = [Shard(plan, *ends) for ends in ranges]

    def _submit(self, workers: Sequence[int], call: Call) -> list[tuple[int, Call]]:
        return [(worker, call) for worker in workers]

    def _next(self, waiting: list[tuple[int, Call]]) -> tuple[int, Any]:
        worker, call = waiting.pop(0)
        try:
            return worker, self._result(worker, call)
        except WorkerLostError as lost:
            return worker, lost

    def _replace(self, worker: int) -> None:
        lost = self._shards[worker]
        self._shards[worker] = Shard(lost.plan, lost.first, lost.last)

    def _result(self, worker: int, call: Call) -> Any:
        return getattr(self._shards[worker], call.method)(*call.arguments)

    def close(self) -> None:
        self._shards = []


def size_of(value: Any) -> int:
    """Size of the arrays in a tuple or another container."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(map(size_of, value))
    return 0
