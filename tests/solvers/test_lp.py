"""The linear program against the enumeration of all prunings, and its own theorems."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from budgetprune.errors import InvalidInputError, SolverError
from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem
from budgetprune.solvers import lp as _lp

from ..boosters import LOSSES
from .oracles import LAMBDAS, boosted_case, random_case

SEEDS = range(25)


@pytest.fixture(scope="module")
def problem():
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(5, max_depth=5, random_state=0).fit(X[:400], y[:400])
    return PruningProblem(Forest.from_model(model), X[400:500], y[400:500], error="held-out")


@pytest.mark.uncompiled
@pytest.mark.parametrize("draw", [random_case, boosted_case])
@pytest.mark.parametrize("seed", SEEDS)
def test_best_of_all_prunings(draw, seed):
    case = draw(seed)
    for lam in LAMBDAS:
        pruning = _lp.solve(case.problem, lam)
        certificate = case.problem.certify(pruning)
        assert abs(certificate.gap) <= 1e-9
        assert certificate.objective == pytest.approx(case.prunings.best(lam), abs=1e-12)


def test_random_cases_cover_what_they_promise():
    problems = [random_case(seed).problem for seed in SEEDS]
    assert any((problem.gain < -1e-9).any() for problem in problems)
    assert any((problem.costs.price == 0).any() for problem in problems)
    assert any((problem.row_weight == 0).any() for problem in problems)
    assert any((problem.computation > 0).any() for problem in problems)
    assert any(np.unique(problem.use_node).size < problem.n_uses for problem in problems)
    assert any(problem.forest.n_splits == 0 for problem in problems)
    assert any(problem.n_incidences == 0 < problem.forest.n_splits for problem in problems)


def test_boosted_cases_cover_what_they_promise():
    problems = [boosted_case(seed).problem for seed in SEEDS]
    assert sum((problem.gain < -1e-6).any() for problem in problems) > len(problems) / 2
    at_roots = [problem.error_of(np.zeros_like(problem.unpruned)) for problem in problems]
    assert min(at_roots) < 0 < max(at_roots)
    assert {problem.forest.loss for problem in problems} == {*LOSSES}


def test_gap_is_zero_on_a_real_forest(problem):
    for lam in (0.0, 0.002, 0.01, 0.05, 1.0):
        assert abs(problem.certify(_lp.solve(problem, lam)).gap) <= 1e-9


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", SEEDS)
def test_objective_of_the_program_is_that_of_the_problem(seed):
    """Every pruning, written as z and w, is feasible; its cost is its objective, less a constant."""
    case = random_case(seed, max_depth=2)
    problem, lam = case.problem, 0.03
    program = _lp.Program.of(problem, lam)
    use = np.repeat(np.arange(problem.n_uses), np.diff(problem.use_start))
    is_pair = np.zeros((problem.n_sources, problem.n_examples), dtype=bool)
    for k, h in enumerate(problem.use_node):
        t = problem.forest.tree_of_node[h]
        is_pair[problem.use_source[k], problem.order[t, problem.row_start[h] : problem.row_stop[h]]] = True
    parent = problem.forest.parent
    constant = lam * problem.computation.sum()
    for keep, objective in zip(case.prunings.keep, case.prunings.objective(lam), strict=True):
        z = ~keep & ((parent < 0) | keep[parent])
        x = np.concatenate([z, keep[problem.use_node[use]], problem.acquired(keep).T[is_pair]]).astype(float)
        assert np.array_equal(program.equality @ x, np.ones(program.equality.shape[0]))
        assert np.all(program.coupling @ x <= 0)
        assert program.cost @ x + constant == pytest.approx(objective, abs=1e-12)


def test_network_form_of_any_forest(problem):
    """Lemma 3.1: differences of neighbouring rows have one 1 and one -1 in each column of z and w^(t)."""
    equality = _lp.Program.of(problem, 0.01).equality.tocsc()[
        :, : problem.forest.n_nodes + problem.n_incidences
    ]
    rows = equality.indices
    first, last = rows[equality.indptr[:-1]], rows[equality.indptr[1:] - 1]
    assert equality.has_sorted_indices
    assert np.array_equal(last - first + 1, np.diff(equality.indptr)), "the ones are consecutive"
    assert np.all(equality.data == 1)


def test_refuses_what_it_cannot_do(problem, monkeypatch):
    with pytest.raises(InvalidInputError, match="lam"):
        _lp.solve(problem, -1.0)
    with pytest.raises(InvalidInputError, match="time_limit"):
        _lp.solve(problem, 0.01, time_limit=0.0)
    monkeypatch.setattr(_lp, "MAX_INCIDENCES", 100)
    with pytest.raises(SolverError, match=r"incidences.*parametric.*primal-dual"):
        _lp.solve(problem, 0.01)


@pytest.mark.parametrize(("field", "value"), [("success", False), ("x", None)])
def test_never_passes_on_what_highs_could_not_do(problem, monkeypatch, field, value):
    def half_done(*args, **options):
        result = linprog(*args, **options)
        result[field] = np.full_like(result.x, 0.5) if value is None else value
        return result

    linprog = _lp.linprog
    monkeypatch.setattr(_lp, "linprog", half_done)
    with pytest.raises(SolverError, match="HiGHS"):
        _lp.solve(problem, 0.01)


def test_gives_up_when_time_is_over(problem):
    with pytest.raises(SolverError, match=r"[Tt]ime limit"):
        _lp.solve(problem, 0.01, time_limit=1e-6)
    assert problem.certify(_lp.solve(problem, 0.01, time_limit=60.0)).gap < 1e-9
