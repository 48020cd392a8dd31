"""The primal-dual solver against enumeration and linear program; its kernels against slow, obvious twins."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem
from budgetprune.solvers import lp as _lp
from budgetprune.solvers import primal_dual as _primal_dual
from budgetprune.solvers import primal_dual_kernels as kernels
from budgetprune.utils.threads import kernel_threads

from .oracles import LAMBDAS, boosted_case, random_case
from .strategies import build_forest, cases, examples

SEEDS = range(10)
ROUNDING = 1e-12
MIDDLE = 0.01


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(1600, 12, n_informative=8, flip_y=0.1, random_state=0)
    return X[:1000], y[:1000], X[1000:]


@pytest.fixture(scope="module")
def forest(rows):
    return Forest.from_model(RandomForestClassifier(10, max_depth=7, random_state=0).fit(*rows[:2]))


@pytest.fixture(scope="module")
def problem(forest, rows):
    return PruningProblem(forest, rows[2])


@pytest.fixture(scope="module")
def optimum(problem):
    return problem.certify(_lp.solve(problem, MIDDLE)).objective


# --- What is promised ---------------------------------------------------------------------------------------


@pytest.mark.uncompiled
@pytest.mark.parametrize("draw", [random_case, boosted_case])
@pytest.mark.parametrize("seed", SEEDS)
def test_bound_best_objective_in_this_order(draw, seed):
    case = draw(seed)
    for lam in LAMBDAS:
        pruning = _primal_dual.solve(case.problem, lam)
        certificate, best = case.problem.certify(pruning), case.prunings.best(lam)
        assert certificate.bound <= best + ROUNDING
        assert best <= certificate.objective + ROUNDING
        assert certificate.gap <= 0.01
        assert np.all(pruning.report.bound <= best + ROUNDING)


@pytest.mark.uncompiled
@pytest.mark.usefixtures("one_thread")
@given(cases, st.floats(0, 1.2))
@examples(60)
def test_what_it_reports_is_what_it_returns(case, share):
    problem = case.problem
    pruning = _primal_dual.solve(problem, share * problem.path().lam[-1], gap=0.02)
    certificate, report = problem.certify(pruning), pruning.report
    assert report.objective[-1] == pytest.approx(certificate.objective, abs=1e-12 * problem.scale)
    assert report.bound[-1] == pytest.approx(certificate.bound, abs=1e-12 * problem.scale)


@pytest.mark.uncompiled
def test_a_split_that_loses_all_that_is_gained_below_it_is_not_taken_along():
    """It would pay for nothing, and what it pays must not be forgotten."""
    # 0 (gain -3) -> 1 (gain 3), both of feature 0; then 5 (gain 3.5) and 8 (gain 0.5), that share feature 1
    leaf = np.nan
    forest = build_forest(
        tree_start=[0, 5, 8, 11],
        parent=[-1, 0, 1, 1, 0, -1, 5, 5, -1, 8, 8],
        feature=[0, 0, -1, -1, -1, 1, -1, -1, 1, -1, -1],
        threshold=[1.5, 0.5, leaf, leaf, leaf, 0.5, leaf, leaf, 0.5, leaf, leaf],
        value=np.zeros((11, 2)),
        class_weight=np.ones((11, 2)),
        n_features=2,
    )
    forest = replace(forest, tree_round=[0, 1, 2], split_gain=[-3, 3, 0, 0, 0, 3.5, 0, 0, 0.5, 0, 0])
    problem = PruningProblem(forest, np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    pruning = _primal_dual.solve(problem, 3.0, gap=1e-3)
    assert np.flatnonzero(pruning.keep).tolist() == [5, 8]
    assert problem.certify(pruning).gap <= 1e-3


@pytest.mark.parametrize("gap", [0.01, 0.001, 1e-5])
def test_reaches_the_gap(problem, optimum, gap):
    pruning = _primal_dual.solve(problem, MIDDLE, gap=gap)
    certificate = problem.certify(pruning)
    assert certificate.gap <= gap + ROUNDING
    assert certificate.bound <= optimum + ROUNDING
    assert optimum <= certificate.objective + ROUNDING


@pytest.mark.parametrize("lam", [0.003, 0.01, 0.02, 0.03, 0.05])
def test_few_iterations_do(problem, lam):
    assert _primal_dual.solve(problem, lam).report.iterations <= 20


def test_reports_what_it_did(problem):
    pruning = _primal_dual.solve(problem, MIDDLE, gap=1e-4)
    report, certificate = pruning.report, problem.certify(pruning)
    assert report.converged
    assert report.objective.shape == report.bound.shape == (report.iterations,)
    assert np.all(np.diff(report.objective) <= 0)
    assert np.all(np.diff(report.bound) >= 0)
    assert report.objective[-1] == pytest.approx(certificate.objective, abs=ROUNDING)
    assert report.bound[-1] == pytest.approx(certificate.bound, abs=ROUNDING)
    assert report.gap == pytest.approx(certificate.gap, abs=ROUNDING)


def test_says_so_if_it_does_not_reach_the_gap(problem):
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        pruning = _primal_dual.solve(problem, MIDDLE, gap=0.0, max_iterations=2)
    assert not pruning.report.converged
    assert pruning.report.iterations == 2
    assert problem.certify(pruning).gap == pytest.approx(pruning.report.gap, abs=ROUNDING)


def answer(problem, lam=MIDDLE):
    pruning = _primal_dual.solve(problem, lam, gap=1e-4)
    return pruning.keep, pruning.dual, pruning.report.objective, pruning.report.bound


def test_same_input_same_bits_with_any_number_of_threads(problem, monkeypatch):
    monkeypatch.setattr(_primal_dual, "FEWEST_OF_THREADS", 0)
    first = answer(problem)
    with kernel_threads(1):
        second = answer(problem)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_units_of_cost_do_not_matter(forest, rows):
    """In other units, lambda and prices change, and nothing else does."""
    in_euros, in_cents = (
        PruningProblem(forest, rows[2], costs=unit * np.arange(1.0, 13.0)) for unit in (1, 64)
    )
    first, second = answer(in_euros, 0.004), answer(in_cents, 0.004 / 64)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("n_trees", [1, 10])
def test_trees_that_share_nothing_need_one_iteration(rows, n_trees):
    """One tree is a recursion; so are many trees if each price is 0 or lambda is."""
    X, y, X_cost = rows
    forest = Forest.from_model(RandomForestClassifier(n_trees, max_depth=5, random_state=0).fit(X, y))
    if n_trees == 1:
        answers = [_primal_dual.solve(PruningProblem(forest, X_cost), lam, gap=1e-12) for lam in LAMBDAS]
    else:
        free = PruningProblem(forest, X_cost, costs=np.zeros(12))
        answers = [_primal_dual.solve(PruningProblem(forest, X_cost), 0.0), _primal_dual.solve(free, 1.0)]
    assert all(pruning.report.iterations == 1 for pruning in answers)


def test_progress_bar_only_if_asked_for(problem, capsys):
    _primal_dual.solve(problem, MIDDLE)
    assert capsys.readouterr().err == ""
    _primal_dual.solve(problem, MIDDLE, verbose=True)
    assert "gap" in capsys.readouterr().err


def test_interrupt_leaves_nothing_behind(problem, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    before = answer(problem)
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "share_prices", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _primal_dual.solve(problem, MIDDLE, verbose=True)
    assert all(np.array_equal(a, b) for a, b in zip(before, answer(problem), strict=True))


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"lam": -1.0}, "lam"),
        ({"lam": np.nan}, "lam"),
        ({"gap": -0.1}, "gap"),
        ({"gap": np.nan}, "gap"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"max_iterations": 2.5}, "max_iterations"),
    ],
)
def test_refuses_what_makes_no_sense(problem, options, culprit):
    with pytest.raises(InvalidInputError, match=culprit):
        _primal_dual.solve(problem, **{"lam": MIDDLE, **options})


# --- How it is done -----------------------------------------------------------------------------------------


def tree_value(forest, h, error, charge, temperature):
    """The slow twin of the recursion, with hard or soft minima."""
    if forest.left[h] < 0:
        return error[h]
    if temperature[h] == 0:
        temperature = 0 * temperature
    below = sum(tree_value(forest, c, error, charge, temperature) for c in (forest.left[h], forest.right[h]))
    if temperature[h] == 0:
        return min(error[h], charge[h] + below)
    choices = -np.array([error[h], charge[h] + below]) / temperature[h]
    return -temperature[h] * np.logaddexp(*choices)


def prune_trees(forest, error, charge, temperature):
    value, probability = np.empty((2, forest.n_nodes))
    keep = np.empty(forest.n_nodes, np.bool_)
    for t in range(forest.n_trees):
        kernels.prune_trees(
            forest.tree_start,
            t,
            t + 1,
            forest.parent,
            forest.right,
            error,
            charge,
            temperature,
            value,
            keep,
            probability,
        )
    return value, keep, probability


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(5))
def test_trees_prune_themselves_as_the_recursion_says(seed):
    case = random_case(seed)
    forest, error = case.problem.forest, case.problem.error
    charge = np.random.default_rng(seed).random(forest.n_nodes) * 0.02
    cold, warm = np.zeros(forest.n_nodes), np.full(forest.n_nodes, 0.01)
    roots = forest.tree_start[:-1]
    value, keep, probability = prune_trees(forest, error, charge, cold)
    assert value[roots] == pytest.approx([tree_value(forest, h, error, charge, cold) for h in roots])
    assert np.array_equal(keep, probability == 1)
    assert case.problem.error_of(keep) + charge[keep].sum() == pytest.approx(value[roots].sum())

    probability = prune_trees(forest, error, charge, warm)[2]
    for h in np.flatnonzero(forest.is_split):
        ends = [
            sum(tree_value(forest, r, error, charge + d, warm) for r in roots) for d in steps_at(h, forest)
        ]
        assert probability[h] == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-6)


def steps_at(h, forest):
    """A small step down and one up, in the direction of node h."""
    return np.outer([-1e-6, 1e-6], np.arange(forest.n_nodes) == h)


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(5))
def test_shares_add_up_to_prices(seed):
    problem = random_case(seed).problem
    rng = np.random.default_rng(seed)
    uses, use, sources = _primal_dual._list_uses(problem, 0.02, at_stake=np.ones(problem.forest.n_nodes))
    weight, level = rng.random(use.size) + 0.1, rng.integers(0, 5, use.size).astype(np.int16)
    paid, cost_by_level = np.empty(use.size), np.zeros((problem.n_sources, kernels.N_LEVELS + 1))
    beta = np.zeros(problem.n_incidences)
    assert sorted(sources) == list(range(problem.n_sources))
    for s in sources:
        kernels.share_prices(s, uses, weight, level, paid, cost_by_level)
        kernels.write_shares(s, uses, weight, problem.use_start[use], beta)

    total = np.zeros((problem.n_sources, problem.n_examples))
    highest = np.zeros(total.shape, dtype=int)
    for k, level_of_use, paid_at_use in zip(use, level, paid, strict=True):
        h, incidences = problem.use_node[k], slice(problem.use_start[k], problem.use_start[k + 1])
        rows = problem.order[problem.forest.tree_of_node[h], problem.row_start[h] : problem.row_stop[h]]
        assert paid_at_use == pytest.approx(beta[incidences].sum(), abs=1e-15)
        total[problem.use_source[k], rows] += beta[incidences]
        highest[problem.use_source[k], rows] = np.maximum(highest[problem.use_source[k], rows], level_of_use)
    price = 0.02 * np.outer(problem.costs.price, problem.row_weight)
    is_used = total > 0
    assert total[is_used] == pytest.approx(price[is_used])
    for step in range(1, 5):
        assert cost_by_level[:, step].sum() == pytest.approx(price[highest == step].sum())


def test_weights_never_vanish():
    weight = _primal_dual._weights(np.array([0.0, 1.0, 5000.0]))
    assert np.all(weight > 0)
    assert np.all(np.isfinite(weight))
