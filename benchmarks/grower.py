"""Training time of cost-aware forests, relative to scikit-learn's: ``python -m benchmarks.grower``."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import BenchmarkError, median_seconds, seconds, stage, times
from benchmarks.report import Report, Row, Section
from benchmarks.shapes import QUICK, Rows, settings
from budgetprune.baselines import BudgetRF

N_ROWS = 25_500
N_TREES = 40
N_JOBS = 2
BAR = 3.0


def measure(name: str, rows: Rows) -> Section:
    """Time both libraries with the same settings: entropy, all features at each node, unit costs."""
    X, y = rows
    ours = BudgetRF(
        N_TREES, impurity="entropy", rule="expected", max_features=None, n_jobs=N_JOBS, random_state=0
    )
    theirs = RandomForestClassifier(
        N_TREES, criterion="entropy", max_features=None, n_jobs=N_JOBS, random_state=0
    )
    with stage(f"BudgetRF, {N_TREES} trees on {len(X):,} rows"):
        own, _ = median_seconds(partial(ours.fit, X, y), 3)
    with stage("scikit-learn's forest"):
        peer, _ = seconds(partial(theirs.fit, X, y))
    sizes = ours.forest_.n_nodes / N_TREES, float(np.mean([tree.tree_.node_count for tree in theirs]))
    what = f"growing BudgetRF / scikit-learn's forest, {N_JOBS} threads"
    note = f"{times(own, peer)}; {sizes[0]:.0f} / {sizes[1]:.0f} nodes per tree"
    size = f"{N_TREES} trees; {len(X):,} rows, {X.shape[1]} features"
    return Section(name, size, [Row("grower", what, own / peer, BAR, note=note)])


def main(arguments: list[str] | None = None) -> int:
    """Measure on the real data if available, else on generated data of the same shape."""
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    try:
        found = {setting.name: setting for setting in settings()}
        setting = found.get("MiniBooNE", found["MiniBooNE shape"])
        with stage("getting the rows"):
            X, y = setting.load()
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    n_rows = N_ROWS // QUICK if quick else N_ROWS
    section = measure(setting.name, (X[:n_rows], y[:n_rows]))
    print(Report.of([section], quick).table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
