"""A path is one number per node: its points, its choices, and its way to a file and back."""

import json
import re
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

from budgetprune import BudgetWarning, FeatureCosts, Forest, InvalidInputError, PruningPath, PruningProblem
from budgetprune.path import breakpoints
from budgetprune.utils import files

from ..boosters import boosted

pytestmark = pytest.mark.nojit

COSTS = FeatureCosts([2, 1, 3, 0.5])


def build_problem(classes=("no", "yes"), regression=False, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    score = X @ [1.0, 2.0, -1.0, 0.5] + rng.normal(size=90)
    model = RandomForestRegressor if regression else RandomForestClassifier
    y = score if regression else np.asarray(classes)[(score > 0).astype(int)]
    model = model(3, max_depth=3, random_state=0).fit(X[:60], y[:60])
    return PruningProblem(Forest.from_model(model), X[60:], costs=COSTS, **options)


def nested(forest, top=0.1):
    """Critical lambdas as a solver may find them: children never above their parents."""
    critical = np.where(forest.is_split, np.random.default_rng(1).integers(0, 8, forest.n_nodes) / 100, 0.0)
    critical[forest.tree_start[:-1]] = top
    for h in np.flatnonzero(forest.parent >= 0):
        critical[h] = min(critical[h], critical[forest.parent[h]])
    return critical


@pytest.fixture(scope="module")
def problem():
    return build_problem()


@pytest.fixture(scope="module")
def path(problem):
    return PruningPath.of(problem, nested(problem.forest), complete=True)


@pytest.fixture(scope="module")
def grid(problem):
    return PruningPath.of(problem, nested(problem.forest), lams=[0.09, 0.02, 0.075, 0.02], complete=False)


# --- Points -------------------------------------------------------------------------------------------------


def test_points_of_a_complete_path(problem, path):
    assert path.lam.tolist() == sorted({0.0, *path.critical_lambda.tolist()})
    assert len(path) == path.lam.size == path.error.size == path.cost.size == path.n_splits.size >= 5
    assert np.all(np.diff(path.cost) <= 0)
    assert np.all(np.diff(path.n_splits) < 0)
    for k, pruning in enumerate(path):
        assert np.array_equal(pruning.keep, path.critical_lambda > path.lam[k])
        assert pruning.lam == path.lam[k]
        assert pruning.error == pytest.approx(problem.error_of(pruning.keep), abs=1e-12)
        assert pruning.cost == pytest.approx(problem.cost_of(pruning.keep), abs=1e-12)
        assert pruning.n_splits == path.n_splits[k] == pruning.forest.n_splits
    assert path.objective == pytest.approx([problem.objective(p.keep, p.lam) for p in path])


def test_a_path_is_a_sequence(path):
    assert path[-1].lam == path.lam[-1]
    assert path[np.int64(1)].lam == path.lam[1]
    assert [pruning.lam for pruning in path] == path.lam.tolist()
    with pytest.raises(IndexError):
        path[len(path)]
    with pytest.raises(TypeError):
        path[0.5]


def test_unpruned_stands_beside_the_path(problem, path):
    assert path.unpruned.n_splits == problem.forest.n_splits
    assert path.unpruned.error == problem.error_of(problem.unpruned)
    assert path.unpruned.cost == problem.cost_of(problem.unpruned)
    assert np.isnan(path.unpruned.lam)


def test_free_splits_stay_for_ever(problem):
    critical = nested(problem.forest, top=np.inf)
    path = PruningPath.of(problem, critical, complete=True)
    assert np.isfinite(path.lam).all()
    assert path[-1].n_splits == path.at(lam=1e9).n_splits == problem.forest.n_trees


def test_nothing_is_worth_its_cost(problem):
    path = PruningPath.of(problem, np.zeros(problem.forest.n_nodes), complete=True)
    assert path.lam.tolist() == [0]
    assert path.at(budget=0).n_splits == path.at(lam=3).n_splits == 0


def test_bounds_become_gaps(problem, path):
    bound = path.objective - 1e-3
    certified = PruningPath.of(problem, path.critical_lambda, complete=True, bound=bound)
    roots = problem.error[problem.forest.tree_start[:-1]].sum()
    assert certified.gap == pytest.approx(1e-3 / roots)
    assert "gap <=" in repr(certified)
    assert path.bound is path.gap is None
    lams = np.array([0.03, 0.01])  # the bounds follow their lambdas
    two = PruningPath.of(problem, path.critical_lambda, lams=lams, complete=False, bound=[3.0, 1.0])
    assert two.bound.tolist() == [1.0, 3.0]


def test_objective_has_the_computation():
    problem = build_problem(computation_weight=0.3)
    path = PruningPath.of(problem, nested(problem.forest), complete=True)
    assert path.objective == pytest.approx([problem.objective(p.keep, p.lam) for p in path])


def test_arrays_are_read_only_and_must_fit(problem, path):
    with pytest.raises(ValueError, match="read-only"):
        path.cost[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        path[0].keep[0] = False
    with pytest.raises(InvalidInputError, match="n_splits must have one entry"):
        replace(path, n_splits=path.n_splits[1:])
    with pytest.raises(InvalidInputError, match="growing lam"):
        replace(path, lam=path.lam[::-1])
    with pytest.raises(InvalidInputError, match="leave lams out"):
        PruningPath.of(problem, path.critical_lambda, complete=True, lams=[0.01])
    assert breakpoints(np.array([np.inf, 0.5, 0.5])).tolist() == [0, 0.5]


# --- Choosing -----------------------------------------------------------------------------------------------


def test_at_lam_between_breakpoints(path):
    for k in range(len(path) - 1):
        between = 0.3 * path.lam[k] + 0.7 * path.lam[k + 1]
        pruning = path.at(lam=between)
        assert pruning.lam == between
        assert np.array_equal(pruning.keep, path.critical_lambda > between)
        assert (pruning.error, pruning.cost) == (path.error[k], path.cost[k])
    assert path.at(lam=path.lam[2]).n_splits == path.n_splits[2]  # at a breakpoint, the smaller set
    assert path.at(lam=10).n_splits == path.n_splits[-1]


def test_at_budget(path):
    for k in range(1, len(path)):
        between = (path.cost[k - 1] + path.cost[k]) / 2
        if path.cost[k - 1] > between >= path.cost[-2]:
            assert path.at(budget=between).cost == path.cost[k]
    assert path.at(budget=path.cost[1]).cost == path.cost[1]
    for plenty in (path.cost[0], 1e6, np.inf):
        assert path.at(budget=plenty).n_splits == path.n_splits[0]


def test_of_equal_costs_the_smallest_error_is_chosen(problem, path):
    """Splits that need nothing new come and go along the path, and cost nothing."""
    level = path.lam.copy()
    flat = replace(path, cost=np.where(level < 0.03, 2.0, np.where(level < 0.1, 1.0, 0.0)))
    assert flat.at(budget=1.5).lam == level[level >= 0.03][0]


def test_a_budget_that_buys_nothing(path):
    for budget in (0, 0.9 * path.cost[-2]):
        with pytest.warns(BudgetWarning, match=f"buys nothing.*{path.cost[-2]:.6g}"):
            assert path.at(budget=budget).n_splits == path.n_splits[-1]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({}, "either"),
        ({"lam": 1, "budget": 1}, "either"),
        ({"budget": -1}, "budget must be a number of at least 0, not -1"),
        ({"budget": float("nan")}, "not nan"),
        ({"budget": "much"}, "not 'much'"),
        ({"lam": -0.1}, "lam must be a finite number of at least 0, not -0.1"),
        ({"lam": float("inf")}, "not inf"),
    ],
)
def test_choices_that_are_none(path, choice, words):
    with pytest.raises(InvalidInputError, match=words):
        path.at(**choice)


def test_points_of_a_grid(problem, grid):
    assert grid.lam.tolist() == [0.02, 0.075, 0.09]
    assert not grid.complete
    assert [p.cost for p in grid] == pytest.approx([problem.cost_of(p.keep) for p in grid])
    assert grid.at(lam=0.075).n_splits == grid.n_splits[1]
    assert grid.at(budget=100).n_splits == grid.n_splits[0]


def test_between_equal_points_of_a_grid_nestedness_decides(grid):
    assert grid.n_splits[1] == grid.n_splits[2]
    pruning = grid.at(lam=0.08)
    assert (pruning.lam, pruning.n_splits) == (0.08, grid.n_splits[1])


@pytest.mark.parametrize(("lam", "near"), [(0.05, "0.02 and 0.075"), (0.01, "0.02"), (0.2, "0.09")])
def test_between_different_points_of_a_grid_nothing_is_known(grid, lam, near):
    with pytest.raises(InvalidInputError, match=rf"next to it: {near}\); use problem\.solve\({lam}\)"):
        grid.at(lam=lam)


def test_beyond_a_grid_that_ends_at_nothing_there_is_nothing(problem):
    critical = nested(problem.forest)
    path = PruningPath.of(problem, critical, lams=[0.05, 0.5], complete=False)
    assert path.at(lam=2.0).n_splits == 0
    everything = np.where(problem.forest.is_split, 1.0, 0.0)
    path = PruningPath.of(problem, everything, lams=[0.05], complete=False)
    assert path.at(lam=0.01).n_splits == problem.forest.n_splits


def test_a_grid_may_be_too_expensive(grid):
    with pytest.raises(InvalidInputError, match=r"every point of this path costs more than 0\.001"):
        grid.at(budget=0.001)


# --- Tables and words ---------------------------------------------------------------------------------------


def test_to_frame(problem, path):
    frame = path.to_frame()
    assert list(frame.columns) == ["lam", "splits", "cost", "error"]
    assert frame["cost"].tolist() == path.cost.tolist()
    certified = PruningPath.of(problem, path.critical_lambda, complete=True, bound=path.objective)
    assert list(certified.to_frame().columns) == ["lam", "splits", "cost", "error", "bound", "gap"]


def test_to_frame_without_pandas(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"budgetprune\[pandas\]"):
        path.to_frame()


def test_repr(path, grid):
    assert repr(path).startswith(f"PruningPath({len(path)} points, complete: {path.n_splits[0]} to 0 of ")
    assert "3 points, on a grid" in repr(grid)


# --- Files --------------------------------------------------------------------------------------------------


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
    path.save(tmp_path / "path.npz")
    loaded = PruningPath.load(tmp_path / "path.npz")
    for name in ("critical_lambda", "lam", "error", "cost", "n_splits", "objective", "bound", "gap"):
        assert same(getattr(path, name), getattr(loaded, name)), name
    assert (loaded.complete, loaded.source_names) == (True, ("x0", "x1", "x2", "x3"))
    assert (loaded.unpruned.error, loaded.unpruned.cost) == (path.unpruned.error, path.unpruned.cost)
    rows = np.random.default_rng(3).normal(size=(20, 4))
    ours, theirs = path.at(budget=3).forest, loaded.at(budget=3).forest
    assert ours.predict(rows).tolist() == theirs.predict(rows).tolist()
    assert theirs.origin is None
    again = PruningPath.load(str(tmp_path / "path.npz"), forest=problem.forest)
    assert again.forest is problem.forest
    assert again.at(budget=3).forest.to_sklearn().predict(rows).tolist() == ours.predict(rows).tolist()


@pytest.mark.parametrize("kind", ["softmax", "gamma"])
def test_boosted_paths_are_saved(tmp_path, kind):
    case = boosted(kind)
    labels = (("low", "high"), None, (3, np.int64(5), np.float32(0.5), True), (np.str_("x"), None))
    forest = replace(case.forest, categories=labels)
    path = PruningProblem(forest, case.X, costs=COSTS).path(certify=True)
    path.save(tmp_path / "path.npz")
    for given in (None, forest):
        loaded = PruningPath.load(tmp_path / "path.npz", forest=given)
        assert loaded.forest.categories == labels
        assert loaded.forest.loss == kind
        assert same(loaded.forest.tree_round, forest.tree_round)
        assert same(loaded.forest.split_gain, forest.split_gain)
        assert same(loaded[1].forest.predict(case.X), path[1].forest.predict(case.X))
        again = PruningProblem(loaded.forest, case.X, costs=COSTS).path()
        assert same(again.critical_lambda, path.critical_lambda)
    plain = PruningPath.load(tmp_path / "path.npz").forest.categories[2]
    assert [type(label) for label in plain] == [int, int, float, bool]
    other = replace(forest, loss=None, categories=labels[::-1], split_gain=None)
    with pytest.raises(InvalidInputError, match="differ in loss, categories, split_gain"):
        PruningPath.load(tmp_path / "path.npz", forest=other)


def test_categories_that_need_pickle_are_refused(tmp_path):
    case = boosted("squared")
    forest = replace(case.forest, categories=(None, ("a", (1, 2)), None, None))
    path = PruningProblem(forest, case.X).path()
    with pytest.raises(InvalidInputError, match=r"category \(1, 2\) cannot be saved without pickle"):
        path.save(tmp_path / "path.npz")


def test_files_from_before_boosting(saved, path):
    """The first format knew neither boosted forests nor categories."""
    with np.load(saved) as archive:
        header = json.loads(archive["header"].tobytes())
    header["version"] = 1
    for name in ("loss", "categories"):
        assert header["forest"].pop(name) is None
    rewrite(saved, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    loaded = PruningPath.load(saved)
    assert same(loaded.critical_lambda, path.critical_lambda)
    assert not loaded.forest.is_boosted
    assert PruningPath.load(saved, forest=path.forest).forest is path.forest


def test_bounds_and_names_are_saved(tmp_path, problem):
    forest = replace(problem.forest, feature_names=("age", "Größe", "a\0", ""))
    critical = nested(forest)
    path = replace(
        PruningPath.of(problem, critical, complete=False, lams=[0.0, 0.02], bound=[-1.0, -2.0]), forest=forest
    )
    path.save(tmp_path / "path.npz")
    loaded = PruningPath.load(tmp_path / "path.npz")
    assert loaded.forest.feature_names == forest.feature_names
    assert loaded.bound.tolist() == [-1, -2]
    assert not loaded.complete


def test_another_forest_is_refused(tmp_path, problem, path):
    path.save(tmp_path / "path.npz")
    other = replace(problem.forest, threshold=problem.forest.threshold + 1)
    with pytest.raises(InvalidInputError, match=r"not the forest .* they differ in threshold"):
        PruningPath.load(tmp_path / "path.npz", forest=other)
    other = replace(problem.forest, divisor=7.0)
    with pytest.raises(InvalidInputError, match="differ in divisor"):
        PruningPath.load(tmp_path / "path.npz", forest=other)
    tree = Forest.from_model(DecisionTreeClassifier().fit([[0, 0], [1, 1]], [0, 1]))
    with pytest.raises(InvalidInputError, match="differ in divisor, n_features"):
        PruningPath.load(tmp_path / "path.npz", forest=tree)


def test_labels_that_need_pickle_are_refused(tmp_path, problem, path):
    for labels in (["a", 1], [("a",), None]):
        classes = np.empty(2, dtype=object)
        classes[:] = labels
        odd = replace(path, forest=replace(problem.forest, classes=classes))
        with pytest.raises(InvalidInputError, match="classes of type object"):
            odd.save(tmp_path / "path.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def saved(tmp_path, path):
    path.save(tmp_path / "path.npz")
    return tmp_path / "path.npz"


def damaged(saved):
    """Every way in which a file can be something else."""
    good = saved.read_bytes()
    for length in (0, 1, 3, 100, len(good) // 2, len(good) - 1):
        yield good[:length]
    rng = np.random.default_rng(0)
    for _ in range(40):
        bad = bytearray(good)
        start = rng.integers(len(bad) - 20)
        bad[start : start + 20] = rng.bytes(20)
        yield bytes(bad)
    yield b"lam,error\n0,1\n"


def test_damaged_files(saved, path):
    """Either the damage is in bytes that carry nothing (times, padding), or it is found."""
    for content in damaged(saved):
        saved.write_bytes(content)
        try:
            loaded = PruningPath.load(saved)
        except InvalidInputError as error:
            assert "path.npz" in str(error)  # noqa: PT017 (either way is fine)
        else:
            assert same(loaded.critical_lambda, path.critical_lambda)
            assert same(loaded.cost, path.cost)


def rewrite(saved, **changes):
    with np.load(saved) as archive:
        arrays = dict(archive) | changes
    np.savez(saved, **{name: array for name, array in arrays.items() if array is not None})


def test_foreign_files(saved):
    np.save(saved.with_suffix(".npy"), np.arange(3))
    np.savez(saved.with_name("other.npz"), lam=[1.0])
    np.savez(saved.with_name("pickle.npz"), header=np.array([{}], dtype=object))
    with zipfile.ZipFile(saved.with_name("text.npz"), "w") as archive:
        archive.writestr("header", "not an array")
    for name in ("path.npy", "other.npz", "pickle.npz", "text.npz"):
        with pytest.raises(InvalidInputError, match=f"{name} is not a path that budgetprune saved"):
            PruningPath.load(saved.with_name(name))
    with pytest.raises(FileNotFoundError):
        PruningPath.load(saved.with_name("nothing.npz"))


def test_arrays_that_do_not_fit_are_found(saved, path):
    for changes in (
        {"cost": None},
        {"cost": path.cost[1:]},
        {"critical_lambda": path.critical_lambda[::-1]},
        {"forest.parent": np.zeros_like(path.forest.parent)},
        {"forest.value": None},
        {"forest.feature": np.zeros((2, 2))},
    ):
        good = saved.read_bytes()
        rewrite(saved, **changes)
        with pytest.raises(InvalidInputError, match=r"path\.npz is not a path .* damaged \("):
            PruningPath.load(saved)
        saved.write_bytes(good)


def test_newer_files(saved):
    with np.load(saved) as archive:
        header = archive["header"].tobytes()
    newer = re.sub(rb'"version": ?\d+', b'"version": 99', header)
    np.savez(saved, header=np.frombuffer(newer, dtype=np.uint8))
    with pytest.raises(InvalidInputError, match=r"newer budgetprune \(format 99; this one reads up to 2\)"):
        PruningPath.load(saved)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("moment", ["while writing", "before the rename"])
def test_nothing_half_written_is_left(saved, path, monkeypatch, interruption, moment):
    def interrupt(*_args, **_kwargs):
        raise interruption

    before = saved.read_bytes()
    if moment == "while writing":
        monkeypatch.setattr(np, "savez_compressed", interrupt)
    else:
        monkeypatch.setattr(files.os, "replace", interrupt)
    with pytest.raises(interruption):
        path.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_no_folder_to_write_to(tmp_path, path):
    with pytest.raises(FileNotFoundError, match=r"no such folder.*missing'"):
        path.save(tmp_path / "missing" / "path.npz")
