"""Runs that are interrupted and resumed."""

import numpy as np
import pytest

from budgetprune.distributed import LocalEngine, run
from budgetprune.errors import InvalidInputError

from .cases import case

LAMS = [0.002, 0.01, 0.03]
OPTIONS = {"sample": 100, "loss": "brier"}


class InterruptedEngine(LocalEngine):
    """Ctrl-C after some passes over the rows."""

    def __init__(self, n_passes):
        super().__init__(2)
        self.left = n_passes

    def call(self, method, *arguments):
        if method == "share":
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        return super().call(method, *arguments)


def problem(n_passes=10**6):
    return case(2000).distributed(workers=None, engine=InterruptedEngine(n_passes), **OPTIONS)


def bits(path):
    arrays = path.critical_lambda, path.error, path.cost, path.bound, path.gap
    return [array.tobytes() for array in arrays]


@pytest.fixture(scope="module")
def expected():
    engine = InterruptedEngine(10**6)
    whole = case(2000).distributed(workers=None, engine=engine, **OPTIONS)
    path = whole.path(lams=LAMS, gap=1e-3)
    return bits(path), 10**6 - engine.left


def test_same_bits_wherever_a_path_is_interrupted(expected, tmp_path):
    for n_passes in range(expected[1]):
        checkpoint = tmp_path / f"{n_passes}.npz"
        with pytest.raises(KeyboardInterrupt):
            problem(n_passes).path(lams=LAMS, gap=1e-3, checkpoint=checkpoint)
        assert checkpoint.exists()
        resumed = problem(expected[1] - n_passes)  # no pass is repeated
        assert bits(resumed.path(lams=LAMS, gap=1e-3, checkpoint=checkpoint)) == expected[0]
        assert not checkpoint.exists()


def test_a_solution_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "CHECKPOINT_SECONDS", 0.0)
    checkpoint, options = tmp_path / "run.npz", {"gap": 1e-4, "max_iterations": 500}
    whole = problem().solve(0.03, **options)
    with pytest.raises(KeyboardInterrupt):
        problem(2).solve(0.03, checkpoint=checkpoint, **options)
    resumed = problem().solve(0.03, checkpoint=checkpoint, **options)
    assert np.array_equal(resumed.keep, whole.keep)
    assert np.array_equal(resumed.dual, whole.dual)
    assert np.array_equal(resumed.report.bound, whole.report.bound)


def test_refuses_checkpoints_of_others(tmp_path):
    checkpoint = tmp_path / "run.npz"
    with pytest.raises(KeyboardInterrupt):
        problem(0).solve(0.03, checkpoint=checkpoint)
    with pytest.raises(InvalidInputError, match="checkpoint of another problem, or of other options"):
        problem().solve(0.02, checkpoint=checkpoint)
    with pytest.raises(InvalidInputError, match="checkpoint of another problem"):
        case(1999).distributed(**OPTIONS).solve(0.03, checkpoint=checkpoint)
    with np.load(checkpoint) as stored:
        arrays = {name: stored[name] for name in stored if name != "target0.keep"}
    np.savez(tmp_path / "part.npz", **arrays)
    with pytest.raises(InvalidInputError, match=r"not a complete checkpoint .*target0.keep"):
        problem().solve(0.03, checkpoint=tmp_path / "part.npz")
    for content in (b"", b"PK\x03\x04 damaged", checkpoint.read_bytes()[:-20]):
        checkpoint.write_bytes(content)
        with pytest.raises(InvalidInputError, match="not a checkpoint that can be read"):
            problem().solve(0.03, checkpoint=checkpoint)
