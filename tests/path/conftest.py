"""Paths of one small problem."""

import pytest

from budgetprune import PruningPath

from .problems import build_problem, nested


@pytest.fixture(scope="module")
def problem():
    return build_problem()


@pytest.fixture(scope="module")
def path(problem):
    return PruningPath.of(problem, nested(problem.forest), complete=True)


@pytest.fixture(scope="module")
def grid(problem):
    return PruningPath.of(problem, nested(problem.forest), lams=[0.09, 0.02, 0.075, 0.02], complete=False)
