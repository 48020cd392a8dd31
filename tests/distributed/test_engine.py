"""Workers that are lost, in this process: the same code as with Ray, and the same bits as without losses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune.distributed import DistributedProblem, LocalEngine, WorkerLostError
from budgetprune.errors import InvalidInputError, SolverError

from ..solvers.strategies import examples
from .cases import bits, case

OPTIONS = {"error": "held-out", "target": "y", "weight": "w", "sample": 100}
GAP = 3e-4


class DyingEngine(LocalEngine):
    """Workers die before or after some of their calls: their state is lost, and so is their answer."""

    def __init__(self, n_workers, deaths):
        super().__init__(n_workers)
        self.deaths, self.n_calls = deaths, 0

    def _result(self, worker, call):
        self.n_calls += 1
        is_dead = self.n_calls in self.deaths
        if is_dead and self.n_calls % 2:
            self._shards[worker] = None
            raise WorkerLostError("killed before the call")
        if self._shards[worker] is None:
            raise WorkerLostError("called again while it was dead")
        result = super()._result(worker, call)
        if is_dead:
            self._shards[worker] = None
            raise WorkerLostError("killed after the call")
        return result

    def _create(self, plan, ranges):
        super()._create(plan, ranges)
        self.made = list(self._shards)

    def _replace(self, worker):
        self._shards[worker] = self.made[worker]
        super()._replace(worker)


@pytest.fixture(scope="module")
def expected():
    return bits(case().distributed(3, **OPTIONS), gap=GAP)


@given(st.sets(st.integers(1, 60), max_size=6))
@examples(30)
def test_same_bits_whenever_workers_die(expected, deaths):
    engine = DyingEngine(3, deaths)
    problem = DistributedProblem(case().forest, case().frame, engine=engine, **OPTIONS)
    assert bits(problem, gap=GAP) == expected
    assert engine.n_losses == len([death for death in deaths if death <= engine.n_calls])


def test_a_worker_that_always_dies_is_an_error():
    with pytest.raises(SolverError, match=r"was lost 6 times in a row \(killed .*use more workers"):
        DistributedProblem(case().forest, case().frame, engine=DyingEngine(2, range(1000)), **OPTIONS)


def test_errors_of_a_shard_are_not_losses():
    engine = LocalEngine(2)
    with pytest.raises(InvalidInputError, match="missing values"):
        DistributedProblem(
            case().forest, case().frame.assign(y=np.nan), engine=engine, error="held-out", target="y"
        )
    assert engine.n_losses == 0
    assert engine._shards == []  # closed


def test_bytes_are_counted():
    engine = LocalEngine(3)
    problem = DistributedProblem(case().forest, case().frame, engine=engine, sample=0)
    before = engine.bytes_sent
    problem._rows.restart(np.zeros(problem._relevant.size, np.int32))
    assert engine.bytes_sent - before == 3 * 4 * problem._relevant.size
    before = engine.bytes_sent
    problem._rows.share(np.zeros(problem._relevant.size, np.uint8), 0)
    counts = 8 * 65 * problem.n_sources
    assert engine.bytes_sent - before == 3 * (9 * problem._relevant.size + counts)


def test_an_engine_knows_its_number_of_workers():
    with pytest.raises(InvalidInputError, match="give the number of workers to the engine"):
        DistributedProblem(case().forest, case().frame, engine=LocalEngine(2), workers=2)
    with pytest.raises(InvalidInputError, match="at least 1, not 0"):
        LocalEngine(0)
    assert repr(LocalEngine(2)) == "LocalEngine(2)"
