"""`RayEngine`: shards as actors of a Ray cluster."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from budgetprune.distributed.engine import Call, Engine, WorkerLostError
from budgetprune.distributed.shard import Shard, ShardPlan
from budgetprune.errors import InvalidInputError, SolverError
from budgetprune.utils.optional_ray import import_ray
from budgetprune.utils.threads import THREADS_VARIABLE

NAMESPACE = "budgetprune"
# Seconds to wait for a worker to start.
START_SECONDS = 60.0
# Bytes of a worker for each row and tree: 2 for the row's number, and as much for the uses.
BYTES_PER_ROW_AND_TREE = 4


class RayEngine(Engine):
    """Workers that are named actors of a Ray cluster.

    If no cluster has been joined with ``ray.init``, the one of the environment variable ``RAY_ADDRESS`` is
    used, or a local one is started. A worker that is killed, or whose node is removed, is started again on
    any node, reads its rows again and goes on.

    Parameters
    ----------
    n_workers : int, optional
        By default the number of processors of the cluster.
    cpus_per_worker : int
        Threads of each worker.
    start_seconds : float
        A worker that does not start within this time is an error.
    """

    def __init__(
        self,
        n_workers: int | None = None,
        *,
        cpus_per_worker: int = 1,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._ray = import_ray()
        if cpus_per_worker < 1:
            raise InvalidInputError(f"cpus_per_worker must be at least 1, not {cpus_per_worker}.")
        if not self._ray.is_initialized():
            self._ray.init(namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
        if n_workers is None:
            n_workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)) // cpus_per_worker)
        super().__init__(n_workers)
        self._cpus, self._start_seconds = cpus_per_worker, start_seconds
        self._run = secrets.token_hex(4)
        self._actors: list[Any] = []
        self._ranges: list[tuple[int, int]] = []
        self._starts = [0] * n_workers
        self._plan: Any = None

    def _create(self, plan: ShardPlan, ranges: Sequence[tuple[int, int]]) -> None:
        self._check_memory(plan)
        self._plan = self._ray.put(plan)
        self._ranges = list(ranges)
        self._actors = [self._actor(worker, self._cpus) for worker in range(self.n_workers)]
        ready = [actor.ready.remote() for actor in self._actors]
        done, waiting = self._ray.wait(ready, num_returns=len(ready), timeout=self._start_seconds)
        if waiting:
            free = self._ray.available_resources().get("CPU", 0)
            raise SolverError(
                f"{len(waiting)} of {self.n_workers} workers did not start within {self._start_seconds:g} s; "
                f"the cluster has {self._ray.cluster_resources().get('CPU', 0):g} processors, and {free:g} "
                "are free. Use fewer workers."
            )
        for each in done:
            with suppress(WorkerLostError):  # the first call replaces it
                self._get(each)

    def _check_memory(self, plan: ShardPlan) -> None:
        needed = BYTES_PER_ROW_AND_TREE * plan.rows.n_rows * plan.forest.n_trees
        memory = sum(node["Resources"].get("memory", 0) for node in self._ray.nodes() if node["Alive"])
        if needed > memory:
            raise InvalidInputError(
                f"{plan.rows.n_rows} rows and {plan.forest.n_trees} trees need about "
                f"{needed / 2**30:.1f} GiB, but the nodes of the cluster have {memory / 2**30:.1f} GiB; "
                "add nodes, or use fewer rows."
            )

    def _actor(self, worker: int, n_cpus: int) -> Any:
        self._starts[worker] += 1
        first, last = self._ranges[worker]
        name = f"budgetprune-{self._run}-rows-{first}-{last}-start-{self._starts[worker]}"
        options = {"name": name, "namespace": NAMESPACE, "num_cpus": n_cpus, "scheduling_strategy": "SPREAD"}
        return self._ray.remote(ShardActor).options(**options).remote(self._plan, first, last, self._cpus)

    def _submit(self, workers: Sequence[int], call: Call) -> dict[Any, int]:
        # Large arguments are sent once to each node.
        shared = [self._ray.put(each) for each in call.arguments]
        return {self._actors[w].call.remote(call.method, *shared): w for w in workers}

    def _next(self, waiting: dict[Any, int]) -> tuple[int, Any]:
        done, _ = self._ray.wait(list(waiting), num_returns=1)
        worker = waiting.pop(done[0])
        try:
            return worker, self._get(done[0])
        except WorkerLostError as lost:
            return worker, lost

    def _get(self, reference: Any) -> Any:
        """Wait for a result; errors of the shard are raised as they are, and losses as `WorkerLostError`."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, MemoryError):
                raise WorkerLostError("it ran out of memory") from error
            if isinstance(cause, Exception):
                raise cause from None
            raise
        except (
            errors.RayActorError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
            errors.WorkerCrashedError,
        ) as error:
            raise WorkerLostError(" ".join(str(error).split())[:300]) from error

    def _replace(self, worker: int) -> None:
        self._ray.kill(self._actors[worker])
        # The processors of the other nodes may be taken already: the worker shares them.
        self._actors[worker] = self._actor(worker, 0)
        deadline = time.monotonic() + self._start_seconds
        ready = self._actors[worker].ready.remote()
        done, _ = self._ray.wait([ready], timeout=max(0.0, deadline - time.monotonic()))
        if not done:
            raise SolverError(
                f"worker {worker} was lost, and did not start again within {self._start_seconds:g} s; "
                f"the cluster has {len([node for node in self._ray.nodes() if node['Alive']])} node(s)."
            )
        self._get(ready)

    def _result(self, worker: int, call: Call) -> Any:
        return self._get(self._actors[worker].call.remote(call.method, *call.arguments))

    def close(self) -> None:
        """End all workers; a cluster that was started for them goes on until ``ray.shutdown``."""
        actors, self._actors = self._actors, []
        if self._ray.is_initialized():
            for actor in actors:
                self._ray.kill(actor)

    def process_ids(self) -> list[int]:
        """Process of each worker, on its own node."""
        ids: list[int] = self._ray.get([actor.ready.remote() for actor in self._actors])
        return ids


class ShardActor:
    """Actor that holds a shard."""

    def __init__(self, plan: ShardPlan, first: int, last: int, n_threads: int) -> None:
        os.environ[THREADS_VARIABLE] = str(n_threads)
        self._shard = Shard(plan, first, last)

    def ready(self) -> int:
        """Return the number of this process."""
        return os.getpid()

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the shard."""
        function: Callable[..., Any] = getattr(self._shard, method)
        return function(*arguments)
