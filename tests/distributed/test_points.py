"""Prunings for several lambdas are made nested, without loss."""

from itertools import pairwise

import numpy as np
import pytest

from budgetprune.distributed.points import nest
from budgetprune.solvers import Target

from .cases import case, random_keep


def targets(problem, keeps, lams):
    made = [
        Target(lam, keep, problem.objective(keep, lam), problem.scale)
        for lam, keep in zip(lams, keeps, strict=True)
    ]
    for target in made:
        target.bound = 0.0
    return made


@pytest.mark.parametrize("seed", range(10))
def test_the_sum_of_objectives_does_not_increase(seed):
    problem, rng = case().in_memory(), np.random.default_rng(seed)
    lams = np.sort(rng.random(5) * 0.1)
    keeps = [random_keep(problem, rng) for _ in lams]
    critical = nest(targets(problem, keeps, lams))
    nested = [critical > lam for lam in lams]
    assert all(np.all(more[less]) for more, less in pairwise(nested))
    before = sum(problem.objective(keep, lam) for keep, lam in zip(keeps, lams, strict=True))
    after = sum(problem.objective(keep, lam) for keep, lam in zip(nested, lams, strict=True))
    assert after <= before + 1e-12


def test_nested_prunings_stay_as_they_are():
    problem = case().in_memory()
    path = problem.path()
    lams = path.lam[[1, 3]]
    keeps = [path.critical_lambda > lam for lam in lams]
    critical = nest(targets(problem, keeps, lams))
    assert all(np.array_equal(critical > lam, keep) for lam, keep in zip(lams, keeps, strict=True))
    assert np.all(critical[~problem.unpruned] == 0)
