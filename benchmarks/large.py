"""The large setting, "Yahoo shape": time and memory with hundreds of millions of incidences.

Stages run one after the other in separate processes, so that the solver's memory is measured alone. Imports
nothing of the peer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import ExtraTreeClassifier

from benchmarks.measure import in_fresh_process, peak_bytes, seconds, stage
from benchmarks.report import Row, Section
from benchmarks.shapes import QUICK, Rows, data_file
from budgetprune import Forest, PruningPath, PruningProblem

NAME = "Yahoo shape"
N_TRAIN, N_VAL, N_FEATURES, N_TREES = 141_397, 146_769, 519, 140
N_FACTORS = 8  # what the features are noisy copies of
FEATURES_PER_TREE = 12
N_LAMBDAS = 10
PRICES = (1, 5, 20, 50, 100, 150, 200)
GIB = 2.0**30


def measure(quick: bool) -> Section:
    """Grow the forest, then compute its path at a few lambdas."""
    shrink = QUICK if quick else 1
    with TemporaryDirectory() as folder:
        growing = in_fresh_process(grow, folder, N_TRAIN // shrink, N_VAL // shrink, N_TREES // shrink)
        solving = in_fresh_process(solve, folder)
    grown, solved = growing.result, solving.result
    peak = peak_bytes() + max(growing.peak, solving.peak)
    row = partial(Row, "large")
    note = f"growing {growing.peak / GIB:.2f} GiB, solving {solving.peak / GIB:.2f} GiB"
    rows = [
        row("incidences", solved["incidences"] / 1e6, 150.0, unit="M", at_least=True),
        row("peak memory of all processes", peak / GIB, 14.0, unit="GiB", note=note),
        row("training", grown["seconds"], unit="s"),
        row("building the problem", solved["build_seconds"], unit="s"),
        row(
            f"path at {N_LAMBDAS} lambdas",
            solved["path_seconds"],
            unit="s",
            note=f"{solved['path']}; {solved['sample']}",
        ),
    ]
    return Section(NAME, f"{grown['size']}; {solved['size']}", rows)


# --- Each in its own process --------------------------------------------------------------------------------


def grow(folder: str, n_train: int, n_val: int, n_trees: int) -> dict[str, Any]:
    """Grow full trees quickly, with random subspaces and random thresholds."""
    with stage("making the training rows"):
        X, y = make_rows(n_train, seed=0)
    tree = ExtraTreeClassifier(min_samples_leaf=5, max_features=None)
    model = BaggingClassifier(tree, n_trees, max_features=FEATURES_PER_TREE, random_state=0, n_jobs=2)
    with stage(f"training {n_trees} trees on {n_train:,} rows"), joblib.parallel_config("threading"):
        elapsed, _ = seconds(partial(model.fit, X, y))
    forest = replace(Forest.from_model(model), origin=None)
    with stage("writing forest and validation rows"):
        joblib.dump((forest, make_rows(n_val, seed=1)[0], feature_prices()), _stored(folder))
    return {"seconds": elapsed, "size": f"{n_trees} trees, {forest.n_splits:,} splits"}


def solve(folder: str) -> dict[str, Any]:
    """Build the problem and compute the path at lambdas that a small sample of the rows suggests."""
    forest, X, prices = joblib.load(_stored(folder))
    with stage("choosing lambdas on a sample of the rows"):
        sample = PruningProblem(forest, X[: len(X) // 100], costs=prices).path()
    with stage("building the problem"):
        build_seconds, problem = seconds(partial(PruningProblem, forest, X, costs=prices))
    path_seconds, path = seconds(partial(problem.path, lams=spread_lambdas(sample), verbose=True))
    return {
        "size": f"{len(X):,} rows, {forest.n_features} features; {problem.n_incidences:,} incidences",
        "sample": f"{len(sample)} breakpoints on a sample of the rows",
        "incidences": problem.n_incidences,
        "build_seconds": build_seconds,
        "path_seconds": path_seconds,
        "path": (
            f"lambda {path.lam[0]:.3g} to {path.lam[-1]:.3g}, cost {path.cost[0]:.0f} to {path.cost[-1]:.0f} "
            f"(unpruned {path.unpruned.cost:.0f}), {path.n_splits[0]:,} to {path.n_splits[-1]:,} splits"
        ),
    }


def _stored(folder: str) -> Path:
    return Path(folder, "large.joblib")


# --- Data ---------------------------------------------------------------------------------------------------


def make_rows(n_rows: int, seed: int) -> Rows:
    """Draw features that are noisy copies of a few hidden factors, and labels that depend on those."""
    fixed = np.random.default_rng(0)
    copied = fixed.integers(N_FACTORS, size=N_FEATURES)
    slope, curvature = fixed.normal(size=N_FACTORS), fixed.normal(size=(N_FACTORS, N_FACTORS))
    rng = np.random.default_rng([1, seed])
    factors = rng.standard_normal((n_rows, N_FACTORS), dtype=np.float32)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    X *= np.float32(0.3)
    for k, factor in enumerate(copied):  # column by column, in place
        X[:, k] += factors[:, factor]
    score = factors @ slope + 0.5 * ((factors @ curvature) * factors).sum(axis=1)
    return X, (score > 0).astype(np.int64)


def feature_prices() -> NDArray[np.float64]:
    """Read the prices of Yahoo's features if the file exists, else draw prices with the same values."""
    file = data_file("yahoo_cs_cost.txt")
    if file is not None:
        return np.loadtxt(file, dtype=np.float64)
    return np.random.default_rng(0).choice(PRICES, N_FEATURES).astype(np.float64)


def spread_lambdas(path: PruningPath) -> NDArray[np.float64]:
    """Space lambdas geometrically between those that leave 95 % and 5 % of the cost."""
    spent = path.cost / path.cost[0]
    low, high = path.lam[np.argmax(spent < 0.95)], path.lam[np.argmax(spent < 0.05)]
    return np.geomspace(low, high, N_LAMBDAS)
