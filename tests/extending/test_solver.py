"""A path solver that is registered from outside the package."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from budgetprune import (
    BudgetPruneClassifier,
    BudgetWarning,
    Forest,
    InvalidInputError,
    PruningPath,
    PruningProblem,
)
from budgetprune.problem import register_solver, unregister_solver


# --8<-- [start:example]
class AllOrNothing:
    """Keep all splits, or none."""

    name = "all-or-nothing"

    def solve(self, problem, lam):
        none = np.zeros_like(problem.unpruned)
        keep = min((none, problem.unpruned), key=lambda keep: problem.objective(keep, lam))
        return problem.pruning(keep, lam)

    def path(self, problem):
        gain = problem.error_of(np.zeros_like(problem.unpruned)) - problem.error_of(problem.unpruned)
        critical_lambda = np.where(problem.unpruned, gain / problem.cost_of(problem.unpruned), 0.0)
        return PruningPath.of(problem, critical_lambda, complete=True)


# --8<-- [end:example]


@pytest.fixture
def registered():
    register_solver(AllOrNothing())
    yield
    unregister_solver("all-or-nothing")


@pytest.fixture(scope="module")
def problem():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    return PruningProblem(Forest.from_model(model), X)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("lam", [0.0, 0.05, 1.0])
def test_it_solves_and_is_never_better_than_the_exact_solver(problem, lam):
    ours, exact = problem.solve(lam, solver="all-or-nothing"), problem.solve(lam)
    assert problem.objective(ours.keep, lam) >= problem.objective(exact.keep, lam) - 1e-12
    certificate = problem.certify(ours, dual=exact.dual)
    assert certificate.bound <= certificate.objective + 1e-12


@pytest.mark.usefixtures("registered")
def test_its_path_agrees_with_its_solutions(problem):
    path = problem.path(solver="all-or-nothing")
    for lam in (0.5 * path.lam[-1], 2 * path.lam[-1]):
        keep = problem.solve(lam, solver="all-or-nothing").keep
        np.testing.assert_array_equal(path.at(lam=lam).keep, keep)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("error", ["auto", "held-out"])
def test_estimators_use_it(error):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(3, max_depth=3, random_state=0)
    model = BudgetPruneClassifier(forest, budget=1.0, error=error, solver="all-or-nothing", random_state=0)
    with pytest.warns(BudgetWarning, match="a budget of 1 buys nothing"):
        assert model.fit(X, y).cost_ == 0.0
    assert model.set_params(budget=4.0).fit(X, y).cost_ > 2.0


def test_names_are_unique_and_unknown_ones_are_refused(problem, registered):
    with pytest.raises(InvalidInputError, match="registered already"):
        register_solver(AllOrNothing())
    with pytest.raises(InvalidInputError, match="there are parametric, primal-dual, lp, all-or-nothing"):
        problem.solve(0.1, solver="simplex")


def test_without_registration_it_is_unknown(problem):
    with pytest.raises(InvalidInputError, match="no solver is called 'all-or-nothing'"):
        problem.solve(0.1, solver="all-or-nothing")


def test_a_solver_without_a_path_says_so(problem):
    with pytest.raises(InvalidInputError, match="one lam at a time"):
        problem.path(solver="lp")
