"""The number of threads changes no bit."""

import numpy as np
import pytest

from budgetprune.problem import PruningProblem
from budgetprune.utils import parts, threads

from .test_tradeoff import nested

pytestmark = pytest.mark.uncompiled


def results(case):
    problem = PruningProblem(
        case.forest, case.X, case.y, error="held-out", sample_weight=case.weight, computation_weight=0.1
    )
    rng = np.random.default_rng(0)
    critical, lams = nested(case.forest, rng), np.array([0.0, 0.015, 0.02, 7.0])
    flow, level = rng.random(problem.n_incidences), np.full(case.forest.n_nodes, 0.02)
    found = [value for value in vars(problem).values() if isinstance(value, np.ndarray)]
    found += [*problem.trade_off(critical, lams), problem.acquired(critical > 0.01)]
    return [*found, problem.bounds(flow, level, lams), problem.bound(flow, 0.1)]


@pytest.mark.parametrize("name", ["forest, missing", "regression extra trees"])
def test_results_do_not_depend_on_threads(name, get_case, monkeypatch):
    case = get_case(name)
    alone = results(case)
    for module in (parts, threads):
        monkeypatch.setattr(module, "kernel_thread_count", lambda: 3)
    monkeypatch.setattr(parts, "FEWEST_STEPS", 0)
    assert all(np.array_equal(one, many) for one, many in zip(alone, results(case), strict=True))
