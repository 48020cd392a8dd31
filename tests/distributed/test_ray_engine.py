"""Workers on a local Ray cluster of two nodes, which all tests of this module share."""

import logging
import os
import resource
import signal
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from budgetprune import BudgetClassifier
from budgetprune.distributed import DistributedProblem, RayEngine
from budgetprune.distributed.tables import TableRows
from budgetprune.errors import InvalidInputError, SolverError

from .cases import bits, case
from .test_tables import write

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning:ray.*")
OPTIONS = {"error": "held-out", "target": "y", "weight": "w", "sample": 100}
STORE = 80 * 2**20  # the least that Ray accepts, so that the tests need little shared memory


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "object_store_memory": STORE, "include_dashboard": False},
    )
    made.extra = made.add_node(num_cpus=2, object_store_memory=STORE)
    ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def expected():
    return bits(case().distributed(**OPTIONS))


class Faults:
    """Call a function before some passes over the rows."""

    def __init__(self, problem, fault, passes):
        self.share, self.fault, self.passes, self.n = problem._rows.share, fault, passes, 0
        problem._rows.share = self

    def __call__(self, *arguments):
        self.n += 1
        if self.n in self.passes:
            self.fault()
        return self.share(*arguments)


def test_same_bits_with_workers_that_are_killed(cluster, folder, expected):
    """One worker is killed twice (kill -9), at an iteration and at the certificate."""
    engine = RayEngine(2)
    with DistributedProblem(case().forest, folder, engine=engine, **OPTIONS) as problem:

        def kill():
            os.kill(engine.process_ids()[1], signal.SIGKILL)

        faults = Faults(problem, kill, {1})
        pruning = problem.solve(0.01, gap=0.001)
        assert faults.n >= 1
        kill()
        certificate = problem.certify(pruning)
        assert engine.n_losses == 2
        names = [each["name"] for each in ray.util.list_named_actors(all_namespaces=True)]
    assert sorted(name.split("-rows-")[1] for name in names) == ["0-300-start-1", "300-600-start-3"]
    assert (pruning.keep.tobytes(), pruning.dual.tobytes()) == expected[:2]
    assert certificate == expected[-1]


def test_rows_of_a_dataset_and_a_node_that_is_removed(cluster):
    """The order of the blocks of a dataset may differ from run to run; only a sample depends on it."""
    frame, options = case().frame, OPTIONS | {"sample": 0}
    dataset = ray.data.from_pandas([frame[:100], frame[100:450], frame[450:]])
    with DistributedProblem(case().forest, dataset, engine=RayEngine(3), **options) as problem:
        Faults(problem, lambda: cluster.remove_node(cluster.extra), {2})
        assert bits(problem) == bits(case().distributed(**options))
        assert problem.engine.n_losses >= 1


def test_errors_of_workers_are_errors_of_the_problem(cluster, tmp_path):
    frame = case().frame.assign(c1=np.inf)
    folder = write(tmp_path, frame)
    with pytest.raises(InvalidInputError, match=r"part-0.parquet has an infinity"):
        DistributedProblem(case().forest, folder, engine=RayEngine(1))


def test_says_if_the_cluster_is_too_small(cluster, folder, monkeypatch):
    with pytest.raises(SolverError, match=r"of 50 workers did not start within 1 s; .* Use fewer workers"):
        DistributedProblem(case().forest, folder, engine=RayEngine(50, start_seconds=1))
    monkeypatch.setattr("budgetprune.distributed.ray_engine.BYTES_PER_ROW_AND_TREE", 2**40)
    with pytest.raises(InvalidInputError, match=r"the nodes of the cluster have .* GiB; add nodes"):
        DistributedProblem(case().forest, folder, engine=RayEngine(1))


class HungryRows(TableRows):
    """Rows that are read by a worker whose process may not get more memory."""

    def read(self, *arguments):
        resource.setrlimit(resource.RLIMIT_AS, (2**20, resource.RLIM_INFINITY))
        yield "", np.ones(2**27)


def test_says_if_workers_run_out_of_memory(cluster):
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    rows = HungryRows(case().frame)
    with pytest.raises(SolverError, match=r"was lost 6 times in a row .*more workers"):
        DistributedProblem(case().forest, rows, engine=RayEngine(1))


def test_predictions_are_tasks_and_the_recipe_of_ray_data_works(cluster, tmp_path, monkeypatch):
    """The recipe is tested here because all tests that need a cluster share one."""
    from budgetprune import BudgetModel, BudgetPredictor, predict_batches, predict_files
    from budgetprune.workflow import PredictSettings, parquet_files

    from ..workflow import recipes

    frame = case().frame.assign(key=range(600))
    folder, model = write(tmp_path, frame), str(tmp_path / "model.budgetprune")
    BudgetModel(BudgetPredictor(case().forest)).save(model)
    expected = next(predict_batches(model, [frame], keep=["key"]))
    monkeypatch.setattr(parquet_files, "PART_ROWS", 250)
    rows = f"{folder}/*.parquet"
    predict_files(model, rows, tmp_path / "out", settings=PredictSettings(keep=("key",)), engine="ray")
    assert pd.read_parquet(sorted((tmp_path / "out").glob("part-*"))).equals(expected)

    ray.cloudpickle.register_pickle_by_value(recipes)
    files = [str(file) for file in folder.glob("part-*.parquet") if file.stem != "part-1"]  # it has no rows
    recipes.with_ray(model, files, str(tmp_path / "dataset"))
    written = pd.read_parquet(list((tmp_path / "dataset").glob("*.parquet")))
    assert written.sort_values("key", ignore_index=True)["cost"].equals(expected["cost"])


def test_staged_models_are_trained_by_tasks_with_the_same_result(cluster):
    X, y = make_classification(300, 4, n_informative=3, n_redundant=0, random_state=0)
    models = [
        BudgetClassifier(budget=2, cv=2, random_state=0, n_jobs=2, engine=engine).fit(X, y)
        for engine in (None, "ray")
    ]
    here, there = (model.predictor().simulate(X) for model in models)
    assert np.array_equal(here.acquired, there.acquired)
    assert np.array_equal(here.probabilities, there.probabilities)
    assert models[0].settings_ == models[1].settings_
