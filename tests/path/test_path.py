"""`PruningPath`: its points, arrays, table and representation."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from budgetprune import InvalidInputError, PruningPath
from budgetprune.path import breakpoints

from .problems import build_problem, nested

pytestmark = pytest.mark.uncompiled


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
    with pytest.raises(InvalidInputError, match="increasing lam"):
        replace(path, lam=path.lam[::-1])
    with pytest.raises(InvalidInputError, match="leave lams out"):
        PruningPath.of(problem, path.critical_lambda, complete=True, lams=[0.01])
    assert breakpoints(np.array([np.inf, 0.5, 0.5])).tolist() == [0, 0.5]


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
