"""The section of a path: what is saved is loaded, alone and beside a predictor."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from budgetprune import Forest, InvalidInputError, PruningPath, PruningProblem
from budgetprune.persistence import container
from budgetprune.utils import files

from ..boosters import boosted
from ..golden.write import FOLDER, with_path
from .problems import COSTS, build_problem, nested

pytestmark = pytest.mark.uncompiled


@pytest.fixture
def saved(tmp_path, path):
    path.save(tmp_path / "path.budgetprune")
    return tmp_path / "path.budgetprune"


def test_golden_file_is_read_and_still_written(tmp_path):
    golden, path = FOLDER / "path-4.budgetprune", with_path().path
    loaded = PruningPath.load(golden, forest=path.forest)
    assert loaded.to_frame().equals(path.to_frame())
    assert loaded.source_names == path.source_names
    # Other versions of zlib may compress to other bytes.
    path.save(tmp_path / "path")
    assert PruningPath.load(tmp_path / "path").to_frame().equals(path.to_frame())


def test_the_path_of_a_model_file():
    path, loaded = with_path().path, PruningPath.load(FOLDER / "with_path-2.budgetprune")
    assert loaded.to_frame().equals(path.to_frame())
    assert loaded.source_names == path.source_names


def test_files_without_a_path():
    with pytest.raises(InvalidInputError, match="no section path; its sections are forest, costs, options"):
        PruningPath.load(FOLDER / "averaged-1.budgetprune")


def same(one, other):
    return one is other is None or np.array_equal(one, other)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"classes": (0, 1)},
        {"classes": (False, True)},
        {"classes": np.array(["no", "yes"], dtype=object)},
        {"regression": True},
    ],
    ids=["text", "int", "bool", "object", "regression"],
)
def test_what_is_saved_is_loaded(tmp_path, options):
    problem = build_problem(**options)
    path = PruningPath.of(problem, nested(problem.forest), complete=True)
    path.save(tmp_path / "path.budgetprune")
    loaded = PruningPath.load(tmp_path / "path.budgetprune")
    for name in ("critical_lambda", "lam", "error", "cost", "n_splits", "objective", "bound", "gap"):
        assert same(getattr(path, name), getattr(loaded, name)), name
    assert (loaded.complete, loaded.source_names) == (True, ("x0", "x1", "x2", "x3"))
    assert (loaded.unpruned.error, loaded.unpruned.cost) == (path.unpruned.error, path.unpruned.cost)
    rows = np.random.default_rng(3).normal(size=(20, 4))
    ours, theirs = path.at(budget=3).forest, loaded.at(budget=3).forest
    assert ours.predict(rows).tolist() == theirs.predict(rows).tolist()
    assert theirs.origin is None
    again = PruningPath.load(str(tmp_path / "path.budgetprune"), forest=problem.forest)
    assert again.forest is problem.forest
    assert again.at(budget=3).forest.to_sklearn().predict(rows).tolist() == ours.predict(rows).tolist()


@pytest.mark.parametrize("kind", ["softmax", "gamma"])
def test_boosted_paths_are_saved(tmp_path, kind):
    case = boosted(kind)
    labels = (("low", "high"), None, (3, np.int64(5), np.float32(0.5), True), (np.str_("x"), None))
    forest = replace(case.forest, categories=labels)
    path = PruningProblem(forest, case.X, costs=COSTS).path(certify=True)
    path.save(tmp_path / "path.budgetprune")
    for given in (None, forest):
        loaded = PruningPath.load(tmp_path / "path.budgetprune", forest=given)
        assert loaded.forest.categories == labels
        assert loaded.forest.loss == kind
        assert same(loaded.forest.tree_round, forest.tree_round)
        assert same(loaded.forest.split_gain, forest.split_gain)
        assert same(loaded[1].forest.predict(case.X), path[1].forest.predict(case.X))
        again = PruningProblem(loaded.forest, case.X, costs=COSTS).path()
        assert same(again.critical_lambda, path.critical_lambda)
    plain = PruningPath.load(tmp_path / "path.budgetprune").forest.categories[2]
    assert [type(label) for label in plain] == [int, int, float, bool]
    other = replace(forest, loss=None, categories=labels[::-1], split_gain=None)
    with pytest.raises(InvalidInputError, match="differ in loss, categories, split_gain"):
        PruningPath.load(tmp_path / "path.budgetprune", forest=other)


def test_categories_that_need_pickle_are_refused(tmp_path):
    case = boosted("squared")
    forest = replace(case.forest, categories=(None, ("a", (1, 2)), None, None))
    path = PruningProblem(forest, case.X).path()
    with pytest.raises(InvalidInputError, match=r"category \(1, 2\) cannot be saved without pickle"):
        path.save(tmp_path / "path.budgetprune")


def test_bounds_and_names_are_saved(tmp_path, problem):
    forest = replace(problem.forest, feature_names=("age", "Größe", "a\0", ""))
    critical = nested(forest)
    path = replace(
        PruningPath.of(problem, critical, complete=False, lams=[0.0, 0.02], bound=[-1.0, -2.0]), forest=forest
    )
    path.save(tmp_path / "path.budgetprune")
    loaded = PruningPath.load(tmp_path / "path.budgetprune")
    assert loaded.forest.feature_names == forest.feature_names
    assert loaded.bound.tolist() == [-1, -2]
    assert not loaded.complete


def test_another_forest_is_refused(tmp_path, problem, path):
    path.save(tmp_path / "path.budgetprune")
    other = replace(problem.forest, threshold=problem.forest.threshold + 1)
    with pytest.raises(InvalidInputError, match=r"not the forest .* they differ in threshold"):
        PruningPath.load(tmp_path / "path.budgetprune", forest=other)
    other = replace(problem.forest, divisor=7.0)
    with pytest.raises(InvalidInputError, match="differ in divisor"):
        PruningPath.load(tmp_path / "path.budgetprune", forest=other)
    tree = Forest.from_model(DecisionTreeClassifier().fit([[0, 0], [1, 1]], [0, 1]))
    with pytest.raises(InvalidInputError, match="differ in divisor, n_features"):
        PruningPath.load(tmp_path / "path.budgetprune", forest=tree)


def test_labels_that_need_pickle_are_refused(tmp_path, problem, path):
    for labels in (["a", 1], [("a",), None]):
        classes = np.empty(2, dtype=object)
        classes[:] = labels
        odd = replace(path, forest=replace(problem.forest, classes=classes))
        with pytest.raises(InvalidInputError, match="classes of type object"):
            odd.save(tmp_path / "path.budgetprune")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("error", ["in-bag", "held-out"])
@pytest.mark.parametrize(
    "options",
    [{}, {"certify": True}, {"lams": [0.3, 0.0, 1e-3, 2.0]}, {"budgets": [1.0, 3.0]}, {"resolution": 0.5}],
    ids=str,
)
def test_paths_of_the_solver_agree_with_themselves(tmp_path, regression, error, options):
    rng = np.random.default_rng(5)
    y = rng.normal(size=30) if regression else rng.choice(["no", "yes"], 30)
    weight = 0.0 if "budgets" in options else 0.01
    problem = build_problem(regression=regression, y_cost=y, error=error, computation_weight=weight)
    path = problem.path(**options)
    path.save(tmp_path / "path.budgetprune")
    assert PruningPath.load(tmp_path / "path.budgetprune").to_frame().equals(path.to_frame())


def test_names_too_long_for_a_header_are_not_saved(path, tmp_path, monkeypatch):
    monkeypatch.setattr(container, "LONGEST_HEADER", 1000)
    long = replace(path, forest=replace(path.forest, feature_names=("a" * 900, "b", "c", "d")))
    with pytest.raises(InvalidInputError, match="room for 1000; shorten them"):
        long.save(tmp_path / "path.budgetprune")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_nothing_half_written_is_left(saved, path, monkeypatch, interruption, moment):
    def interrupt(*_args, **_kwargs):
        raise interruption

    before = saved.read_bytes()
    monkeypatch.setattr(files.os, moment, interrupt)
    with pytest.raises(interruption):
        path.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_no_folder_to_write_to(tmp_path, path):
    with pytest.raises(FileNotFoundError, match=r"no such folder.*missing'"):
        path.save(tmp_path / "missing" / "path.budgetprune")
