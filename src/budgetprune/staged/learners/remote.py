"""`RemoteLearner`: trees are grown by tasks on a Ray cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.registry import LearnerCandidates
from budgetprune.staged.learners.task import GrowTask, ValidationRows
from budgetprune.staged.learners.trees import GrownTrees
from budgetprune.utils.optional_ray import import_ray

ENGINES = ("ray",)
# A task whose worker is lost is repeated so often.
MOST_RETRIES = 3


class RemoteLearner(Learner):
    """Learner whose trees are grown on a Ray cluster; the trees are the same as in this process.

    Each model is one task: a stage of a fold, a candidate setting, or a candidate source. The threads that
    would train models here wait for tasks instead, so that tasks run at the same time.

    Parameters
    ----------
    inner : Learner
    """

    is_remote = True

    def __init__(self, inner: Learner) -> None:
        self.inner = inner
        self._ray = import_ray()
        self._sent: WeakKeyDictionary[LearningSample, Any] = WeakKeyDictionary()
        self._task = self._ray.remote(_grow)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the learner in the tasks."""
        return self.inner.name

    @property
    def decay(self) -> float:  # type: ignore[override]
        """Factor of the scores of the stage before."""
        return self.inner.decay

    def _constant(self, task: GrowTask) -> GrownTrees:
        return self.inner._constant(task)

    def _grow(self, task: GrowTask) -> GrownTrees:
        validation = task.validation
        samples = [self._send(task.sample), None if validation is None else self._send(validation.sample)]
        # The rows are in the object store, once for all tasks that read them.
        light = replace(task, sample=None, validation=None)  # type: ignore[arg-type]
        start = None if validation is None else validation.start
        node = max(
            (each["Resources"].get("CPU", 1) for each in self._ray.nodes() if each["Alive"]), default=1
        )
        options = {
            "num_cpus": min(task.n_threads, int(node)),
            "max_retries": MOST_RETRIES,
            "name": f"budgetprune-grow-{self.name}-{task.columns.size}-features",
        }
        try:
            reference = self._task.options(**options).remote(self.inner, light, *samples, start)
            grown, gains = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, Exception):
                raise cause from None
            raise
        found: GrownTrees = grown
        found.known_gains = gains
        return found

    def _send(self, sample: LearningSample) -> Any:
        if sample not in self._sent:
            self._sent[sample] = self._ray.put(sample)
        return self._sent[sample]

    def gains(self, grown: GrownTrees, n_features: int) -> NDArray[np.float64]:
        return self.inner.gains(grown, n_features) if grown.known_gains is None else grown.known_gains


def _grow(
    learner: Learner, task: GrowTask, sample: LearningSample, tested: LearningSample | None, start: Any
) -> tuple[GrownTrees, NDArray[np.float64]]:
    """Grow trees; return also their gains, of which LightGBM's models lose digits on the way."""
    validation = None if tested is None else ValidationRows(tested, start)
    grown = learner._grow(replace(task, sample=sample, validation=validation))
    return grown, learner.gains(grown, sample.rows.shape[1])


def on_engine(candidates: LearnerCandidates, engine: str | None) -> LearnerCandidates:
    """Return learners that grow trees on an engine; None: in this process."""
    check_engine(engine)
    if engine is None:
        return candidates
    ray = import_ray()
    if not ray.is_initialized():
        ray.init(log_to_driver=False, configure_logging=False)
    forest = None if candidates.forest is None else RemoteLearner(candidates.forest)
    return replace(candidates, boosted=RemoteLearner(candidates.boosted), forest=forest)


def check_engine(engine: str | None) -> None:
    """Raise unless the engine is known."""
    if engine is not None and engine not in ENGINES:
        raise InvalidInputError(f"engine must be None (this process) or 'ray', not {engine!r}.")


def tasks_at_once() -> int:
    """Number of processors of the cluster."""
    return max(1, int(import_ray().cluster_resources().get("CPU", 1)))
