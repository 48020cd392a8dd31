"""The comparison of solvers over sizes: what is too slow is not tried, and how times grow."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune_experiments import Options
from budgetprune_experiments.solver_trials import LP, SOLVERS
from budgetprune_experiments.solvers import Size, Solvers, _exponent


def test_what_is_larger_than_too_slow_is_not_tried(monkeypatch):
    options, tried = Options(quick=True), []

    def slow(solver, problem, lam, limit):
        tried.append((solver, problem.forest.n_trees, problem.n_examples))
        return {
            "seconds": None if solver == LP and problem.n_examples > 60 else 0.5,
            "gap": 0.0,
            "note": "slow",
        }

    monkeypatch.setattr("budgetprune_experiments.solvers.try_solver", slow)
    experiment, too_slow = Solvers(), []
    for size in (Size(2, 60), Size(2, 90), Size(3, 120), Size(3, 60)):
        records = experiment._run(0, size, too_slow, options)
        assert [record["solver"] for record in records] == list(SOLVERS)
    assert [case[1:] for case in tried if case[0] == LP] == [(2, 60), (2, 90), (3, 60)]


def test_exponents_are_slopes_of_logarithms():
    records = [{"n_rows": n, "seconds": 3e-4 * n**1.5} for n in (1, 100, 200, 400)]
    assert _exponent(records, "n_rows") == pytest.approx(1.5)
    assert _exponent(records[:2], "n_rows") is None, "what is too short to be measured does not count"


def test_sizes_meet_in_one_problem():
    experiment = Solvers()
    sizes = experiment.sizes(Options())
    settings = experiment.settings(Options())
    assert len(sizes) == len(settings["trees"]) + len(settings["rows"]) - 1
    assert np.all(np.diff([size.n_trees * size.n_rows for size in sizes]) >= 0)
