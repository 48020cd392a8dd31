"""Threads: LightGBM gets few for small data, the user's number wins, and idle ones sleep in commands."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from budgetprune import BudgetPruneClassifier
from budgetprune.baselines import CEGBClassifier
from budgetprune.errors import InvalidInputError
from budgetprune.forest.registry import find_adapter
from budgetprune.selection import LabelledRows
from budgetprune.utils import threads as _threads
from budgetprune.utils.threads import (
    THREADS_VARIABLE,
    VALUES_PER_THREAD,
    available_cores,
    boosting_threads,
    default_thread_count,
    in_threads,
    kernel_thread_count,
    kernel_threads,
    physical_cores,
    work_off,
)
from budgetprune.workflow import ensembles

lightgbm = pytest.importorskip("lightgbm")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)


@pytest.fixture
def eight_cores(monkeypatch):
    monkeypatch.setattr(_threads, "physical_cores", lambda: 8)
    monkeypatch.setattr(ensembles, "available_cores", lambda: 8)


@pytest.fixture
def used(monkeypatch):
    """Numbers of threads that LightGBM is trained with."""
    seen, fit = [], lightgbm.LGBMClassifier.fit

    def watched(self, *rows, **how):
        seen.append(self.n_jobs)
        return fit(self, *rows, **how)

    monkeypatch.setattr(lightgbm.LGBMClassifier, "fit", watched)
    return seen


def train(kind, **spec):
    rows = LabelledRows(X, Y)
    return ensembles.train_ensemble(ensembles.EnsembleSpec(kind, **spec), rows, is_classifier=True)


def booster(**how):
    return lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, **how)


@pytest.mark.parametrize(
    ("n_values", "threads"), [(0, 1), (1, 1), (1.9, 1), (2, 2), (7.5, 7), (8, 8), (1000, 8)]
)
@pytest.mark.usefixtures("eight_cores")
def test_threads_for_the_size_of_the_data(n_values, threads):
    rows = SimpleNamespace(shape=(int(n_values * VALUES_PER_THREAD / 10), 10))
    assert boosting_threads(rows) == threads


def test_cores_that_this_process_may_use():
    assert 1 <= physical_cores() <= available_cores()
    if "LOKY_MAX_CPU_COUNT" not in os.environ:
        assert available_cores() == joblib.cpu_count()


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        ({}, []),
        ({"cpu.max": "max 100000"}, []),
        ({"cpu.max": "150000 100000"}, [2]),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, []),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, [3]),
        ({"cpu.max": "damaged"}, []),
    ],
)
def test_limits_of_a_container(files, limits, monkeypatch, tmp_path):
    for name, content in files.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    monkeypatch.setattr(_threads, "CONTROL_GROUPS", tmp_path)
    assert list(_threads._container_limits()) == limits


@pytest.fixture
def thread_variable(monkeypatch):
    """Function that sets the environment variable of the number of threads."""

    def change(value):
        monkeypatch.setenv(THREADS_VARIABLE, value)
        default_thread_count.cache_clear()

    yield change
    default_thread_count.cache_clear()


class TestThreadsOfKernels:
    def test_all_cores_unless_the_environment_or_the_caller_says_otherwise(self, thread_variable):
        thread_variable(" ")
        assert kernel_thread_count() == available_cores()
        thread_variable("7")
        assert kernel_thread_count() == 7
        with kernel_threads(2):
            assert kernel_thread_count() == 2
            with kernel_threads(None):
                assert kernel_thread_count() == 2
        with kernel_threads(50):
            assert kernel_thread_count() == 7
        assert kernel_thread_count() == 7

    @pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5", "²"])
    def test_a_wrong_number_is_an_error(self, wrong, thread_variable):
        thread_variable(wrong)
        with pytest.raises(InvalidInputError, match=r"BUDGETPRUNE_NUM_THREADS=.* give 1 or more"):
            kernel_thread_count()


@pytest.mark.usefixtures("eight_cores")
class TestLightGBM:
    def test_small_data_is_trained_with_one_thread(self, used):
        fitted = BudgetPruneClassifier(booster(), random_state=0).fit(X, Y)
        assert used == [1]
        # What a model predicts later may be large.
        assert fitted.estimator_.n_jobs is None
        assert clone(fitted.estimator_).n_jobs is None

    def test_the_number_of_the_user_wins(self, used):
        BudgetPruneClassifier(booster(), random_state=0, n_jobs=2).fit(X, Y)
        BudgetPruneClassifier(booster(n_jobs=2), random_state=0).fit(X, Y)
        CEGBClassifier(tradeoff=0.01, n_estimators=3, n_jobs=2).fit(X, Y)
        train("lightgbm", n_trees=3, n_jobs=2)
        assert used == [2, 2, 2, 2]

    def test_wherever_it_is_trained(self, used):
        CEGBClassifier(tradeoff=0.01, n_estimators=3).fit(X, Y)
        train("lightgbm", n_trees=3)
        assert used == [1, 1]

    def test_more_threads_for_more_data(self, used, monkeypatch):
        monkeypatch.setattr(_threads, "VALUES_PER_THREAD", 400)
        BudgetPruneClassifier(booster(), validation_fraction=0.5, random_state=0).fit(X, Y)
        assert used == [1]
        CEGBClassifier(tradeoff=0.01, n_estimators=3).fit(X, Y)
        assert used == [1, 2]

    def test_a_model_whose_training_fails_stays_as_it_was(self, monkeypatch):
        def fail(*_rows, **_how):
            raise ZeroDivisionError

        model = booster()
        monkeypatch.setattr(model, "fit", fail)
        with pytest.raises(ZeroDivisionError), find_adapter(model).training(model, X):
            model.fit(X, Y)
        assert model.n_jobs is None


def test_forests_get_all_cores(monkeypatch):
    monkeypatch.setattr(ensembles, "available_cores", lambda: 2)
    assert train("random-forest", n_trees=2).n_jobs == 2
    assert train("extra-trees", n_trees=2, n_jobs=1).n_jobs == 1


# --- Commands -----------------------------------------------------------------------------------------------

COMMAND = """
import os, sys
from budgetprune import cli
# It loads the OpenMP runtime, which reads its settings then, and never again.
assert "lightgbm" not in sys.modules
try:
    cli.main(["--version"])
except SystemExit:
    print(os.environ["OMP_WAIT_POLICY"])
"""


@pytest.mark.parametrize(("given", "policy"), [(None, "passive"), ("active", "active")])
def test_idle_threads_of_commands_sleep(given, policy):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND],
        env=environment | ({} if given is None else {"OMP_WAIT_POLICY": given}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == policy


def test_a_library_leaves_the_environment_alone():
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    code = "import os, budgetprune; print(os.environ.get('OMP_WAIT_POLICY'))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "None\n", done.stderr


# --- Parts of some work -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_parts", [1, 2, 3, 50])
def test_every_part_is_done_once(n_parts):
    done = []
    in_threads(done.append, range(n_parts))
    assert sorted(done) == list(range(n_parts))


def test_an_error_ends_the_work():
    done = []

    def work(part):
        if part == 3:
            raise RuntimeError("part 3")
        done.append(part)

    with pytest.raises(RuntimeError, match="part 3"):
        in_threads(work, range(10_000))
    assert len(done) < 10_000


def test_a_predictor_can_be_used_after_a_fork():
    """Simulating starts no threads that a forked process would wait for."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system cannot fork")
    code = """
import multiprocessing, numpy as np
from sklearn.ensemble import RandomForestClassifier
from budgetprune import BudgetPredictor, Forest
X = np.random.default_rng(0).normal(size=(600, 4))
forest = Forest.from_model(RandomForestClassifier(3, random_state=0).fit(X, X[:, 0] > 0))
simulate = BudgetPredictor(forest).simulate
cost = simulate(X).cost
with multiprocessing.get_context("fork").Pool(2) as pool:
    for each in pool.map(simulate, [X, X]):
        assert np.array_equal(each.cost, cost)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


# --- Work that makes more work ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 4])
def test_work_off_does_the_work_that_its_calls_return(n_threads):
    done = []

    def halve(span: tuple[int, int]) -> list[tuple[int, int]]:
        first, last = span
        if last - first == 1:
            done.append(first)
            return []
        middle = (first + last) // 2
        return [(first, middle), (middle, last)]

    with kernel_threads(n_threads):
        work_off([(0, 100)], halve)
        work_off([], halve)
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("n_threads", [1, 4])
def test_an_error_ends_work_that_makes_more_work(n_threads):
    done = []

    def fail_at_ten(number: int) -> list[int]:
        if number == 10:
            raise ValueError("ten")
        done.append(number)
        return [number + 1]

    with kernel_threads(n_threads), pytest.raises(ValueError, match="ten"):
        work_off([0], fail_at_ten)
    assert done == list(range(10))


def test_an_interruption_of_a_waiting_thread_ends_the_work(monkeypatch):
    """The other thread ends the item that it works on, and starts no further one."""
    interrupted, both_started, started = threading.Event(), threading.Barrier(2, timeout=60), []

    class Interrupted(threading.Condition):
        is_interrupted = False

        def wait(self, timeout=None):
            if threading.current_thread() is threading.main_thread():
                self.is_interrupted = True
                raise KeyboardInterrupt
            return super().wait(timeout)

        def notify_all(self):
            super().notify_all()
            if self.is_interrupted:
                interrupted.set()

    def work(item: str) -> list[str]:
        started.append(item)
        both_started.wait()
        if threading.current_thread() is threading.main_thread():
            return []
        assert interrupted.wait(60)
        return ["more"]

    monkeypatch.setattr(_threads, "Condition", Interrupted)
    with kernel_threads(2), pytest.raises(KeyboardInterrupt):
        work_off(["one", "two"], work)
    assert sorted(started) == ["one", "two"]
