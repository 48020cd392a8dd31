"""Data sets with a split per seed: T for training, V for selection, test rows for reports only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, make_classification, make_hastie_10_2

from benchmarks.measure import BenchmarkError
from benchmarks.shapes import DATA, data_file
from budgetprune_experiments.grids import BoostingGrid
from budgetprune_experiments.split import Split, shuffle_split

# Random seed of the split into rows for design choices and rows for reports.
DESIGN_SEED = 2016
# Minimum number of rows in each part of the split in a quick run, so that rare classes occur in all parts.
FEWEST = 200

Rows = tuple[NDArray[Any], NDArray[Any]]


def stored(file: str) -> Rows:
    """Read the rows of a file in the folder that the environment names."""
    found = data_file(file)
    if found is None:
        raise BenchmarkError(f"{file} is not there; set {DATA} to the folder that holds it.")
    with np.load(found, allow_pickle=False) as arrays:
        return arrays["X"], arrays["y"]


@dataclass(frozen=True)
class DataSet:
    """A data set: its rows, the sizes of the splits, the budgets (unit costs), and CEGB's grid.

    Costs are compared at the accuracies `levels`; None: at accuracies of the reference method. Design choices
    of staged models were made on `n_design` rows, which no report uses. `methods` are the names of the
    compared methods; None: all. `is_timed`: whether the time of staged models is measured, too.
    """

    name: str
    load: Callable[[], Rows]
    n_design: int
    n_train: int
    n_val: int
    n_test: int | None
    budgets: tuple[float, ...]
    grid: BoostingGrid
    levels: tuple[float, ...] | None = None
    methods: tuple[str, ...] | None = None
    is_timed: bool = False

    def divide(self, seed: int, shrink: int = 1) -> Split:
        """Shuffle and split the rows; `shrink` reduces the number of rows for a quick run."""
        X, y = self.load()
        reported = np.random.default_rng(DESIGN_SEED).permutation(len(y))[self.n_design // shrink :]
        return shuffle_split(
            X[reported],
            y[reported],
            seed,
            n_train=_fewer(self.n_train, shrink),
            n_val=_fewer(self.n_val, shrink),
            n_test=None if self.n_test is None else _fewer(self.n_test, shrink),
        )


def _fewer(n_rows: int, shrink: int) -> int:
    return max(n_rows // shrink, min(n_rows, FEWEST))


# --- Data sets that are read from files, on parts of which the method was designed --------------------------


_FILES = (
    DataSet(
        "Covertype",
        partial(stored, "covtype.npz"),
        200_000,
        36_603,
        15_688,
        58_101,
        budgets=(6.5, 9.0, 10.0, 11.0, 12.5, 14.0, 20.0),
        levels=(0.822, 0.857, 0.889, 0.901),
        grid=BoostingGrid((0.003, 0.01, 0.03, 0.1), (63, 255), (100, 300, 600), 0.1, 1.0),
    ),
    DataSet(
        "MiniBooNE",
        partial(stored, "miniboone.npz"),
        20_000,
        25_500,
        11_000,
        None,
        budgets=(4.0, 5.0, 6.0, 7.0, 9.0, 12.0, 14.0, 16.5, 22.5, 27.0, 33.0),
        levels=(0.904, 0.914, 0.922, 0.927, 0.932),
        grid=BoostingGrid((0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2), (31, 63), (50, 100, 200), 0.1, 1e-3),
        is_timed=True,
    ),
)

# --- Data sets that had no part in the design, and need no file ---------------------------------------------


def _scattered() -> Rows:
    """Forty features, of which twelve are informative and eight are mixtures of these."""
    X, y = make_classification(
        14_000,
        40,
        n_informative=12,
        n_redundant=8,
        n_clusters_per_class=6,
        flip_y=0.02,
        random_state=0,
    )
    return X.astype(np.float32), y


def _sphere() -> Rows:
    """Ten equally informative features: inside or outside a sphere. No row is easy with few features."""
    X, y = make_hastie_10_2(14_000, random_state=0)
    return X.astype(np.float32), (y > 0).astype(np.int64)


_TRAINED = (
    "LightGBM, tuned CEGB",
    "staged",
    "staged, one stage for all",
    "cascade",
    "cascade, more rounds",
    "feature subsets",
)
_BINARY = BoostingGrid((3e-4, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1), (15, 31), (50, 100, 200), 0.1, 1e-3)
_SEVERAL = BoostingGrid((0.001, 0.003, 0.01, 0.03, 0.1), (15, 31), (30, 60, 120), 0.1, 1e-1)
_OTHERS = (
    DataSet(
        "digits",
        partial(load_digits, return_X_y=True),
        0,
        840,
        360,
        None,
        budgets=(3.0, 5.0, 8.0, 12.0, 16.0, 20.0, 28.0, 40.0),
        grid=_SEVERAL,
        methods=_TRAINED,
    ),
    DataSet(
        "breast cancer",
        partial(load_breast_cancer, return_X_y=True),
        0,
        240,
        100,
        None,
        budgets=(1.5, 2.0, 3.0, 5.0, 8.0, 12.0),
        grid=_BINARY,
        methods=_TRAINED,
    ),
    DataSet(
        "scattered",
        _scattered,
        0,
        4_200,
        1_800,
        None,
        budgets=(3.0, 5.0, 8.0, 12.0, 16.0, 20.0, 30.0),
        grid=_BINARY,
        methods=_TRAINED,
    ),
    DataSet(
        "sphere",
        _sphere,
        0,
        4_200,
        1_800,
        None,
        budgets=(3.0, 5.0, 7.0, 8.0, 9.0, 10.0),
        grid=_BINARY,
        methods=_TRAINED,
    ),
)

DATA_SETS = (*_FILES, *_OTHERS)
