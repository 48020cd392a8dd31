"""Predictions after a fork, and from many threads at once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from budgetprune import BudgetPredictor

MODEL = Path(__file__).parent / "golden" / "averaged-1.budgetprune"
N_ROWS = 20_000

# The parent predicts first: threads that it left behind would not exist in its children.
FORK = """
import multiprocessing, sys
import numpy as np
from budgetprune import BudgetPredictor
predictor = BudgetPredictor.load(sys.argv[1])
rows = np.random.default_rng(0).normal(size=({n_rows}, 5))
expected = predictor.{method}(rows)
with multiprocessing.get_context("fork").Pool(2) as pool:
    for found in pool.map(predictor.{method}, [rows, rows]):
        assert repr(found) == repr(expected)
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("method", ["forest.predict_proba", "simulate"])
def test_a_process_that_has_predicted_can_fork(method):
    code = FORK.format(n_rows=N_ROWS, method=method)
    done = subprocess.run(
        [sys.executable, "-c", code, str(MODEL)], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_many_threads_predict_at_once():
    predictor = BudgetPredictor.load(MODEL)
    rows = np.random.default_rng(0).normal(size=(1000, 5))
    expected = predictor.forest.predict_proba(rows)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: predictor.forest.predict_proba(rows), range(64)))
    assert all(np.array_equal(each, expected) for each in found)
