"""Settings: forests on generated data of a known shape, and on real data if available."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import BenchmarkError, seconds, stage

DATA = "BUDGETPRUNE_DATA"
QUICK = 20  # how many times smaller a quick run is
MOST_TEST = 40_000  # rows that are neither for training nor for validation

Rows = tuple[NDArray[np.float32], NDArray[np.int64]]


@dataclass(frozen=True)
class Setting:
    """Data source, and the numbers of training and validation rows."""

    name: str
    load: Callable[[], Rows]
    n_train: int
    n_val: int
    n_trees: int = 40

    def grow(self, quick: bool) -> Grown:
        """Train the forest."""
        shrink = QUICK if quick else 1
        n_train, n_val, n_trees = self.n_train // shrink, self.n_val // shrink, 10 if quick else self.n_trees
        with stage("getting the rows"):
            X, y = self.load()
        model = RandomForestClassifier(
            n_trees, criterion="entropy", max_features=None, random_state=0, n_jobs=2
        )
        with stage(f"training {n_trees} trees on {n_train:,} rows"):
            elapsed, _ = seconds(partial(model.fit, X[:n_train], y[:n_train]))
        n_seen = n_train + n_val
        train, test = (X[:n_train], y[:n_train]), X[n_seen : n_seen + MOST_TEST // shrink]
        return Grown(self.name, model, X[n_train:n_seen], elapsed, train, test)


@dataclass(frozen=True, eq=False)
class Grown:
    """A trained forest, its training time, and the training, validation and test rows."""

    name: str
    model: RandomForestClassifier
    X_val: NDArray[np.float32]
    training_seconds: float
    train: Rows
    X_test: NDArray[np.float32]


def settings() -> Iterator[Setting]:
    """List the available settings: the shape of MiniBooNE, and real data sets if found."""
    yield Setting("MiniBooNE shape", _miniboone_shape, 45_522, 19_509)
    for name, file, n_train, n_val in (
        ("MiniBooNE", "miniboone.npz", 25_500, 11_000),
        ("Covertype", "covtype.npz", 36_603, 15_688),
    ):
        found = data_file(file)
        if found is not None:
            yield Setting(name, partial(_shuffled, found), n_train, n_val)


def data_file(name: str) -> Path | None:
    """Find a file in the folder named by the environment variable, if it is set."""
    folder = os.environ.get(DATA)
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise BenchmarkError(f"{DATA} is {folder!r}, which is not a folder; correct it or unset it.")
    file = Path(folder, name)
    return file if file.exists() else None


def _miniboone_shape() -> Rows:
    X, y = make_classification(
        130_065,
        50,
        n_informative=20,
        n_redundant=10,
        n_clusters_per_class=8,
        class_sep=0.8,
        flip_y=0.05,
        random_state=0,
    )
    return X.astype(np.float32), y


def _shuffled(file: Path) -> Rows:
    """Read rows and shuffle them."""
    with np.load(file, allow_pickle=False) as stored:
        X, y = stored["X"], stored["y"]
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]
