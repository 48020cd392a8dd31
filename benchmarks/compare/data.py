"""The data sets, divided anew for each seed: T grows, V chooses, test rows report and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import BenchmarkError
from benchmarks.shapes import DATA, data_file


@dataclass(frozen=True)
class BoostingGrid:
    """What LightGBM is tuned over: tradeoff of its feature costs, leaves per tree, rounds."""

    tradeoffs: tuple[float, ...]
    leaves: tuple[int, ...]
    rounds: tuple[int, ...]
    learning_rate: float
    least_hessian: float  # per leaf; with less, LightGBM runs away on Covertype's rare classes


@dataclass(frozen=True)
class DataSet:
    """Where rows come from, how many do what, and the budgets of interest (unit costs)."""

    name: str
    file: str
    n_train: int
    n_val: int
    n_test: int | None
    budgets: tuple[float, ...]
    grid: BoostingGrid

    def divide(self, seed: int, shrink: int = 1) -> Split:
        """Shuffle and divide the rows; `shrink` takes fewer of each, for a quick run."""
        found = data_file(self.file)
        if found is None:
            raise BenchmarkError(f"{self.file} is not there; set {DATA} to the folder that holds it.")
        with np.load(found, allow_pickle=False) as stored:
            X, y = stored["X"], stored["y"]
        order = np.random.default_rng(seed).permutation(len(y))
        n_train, n_val = self.n_train // shrink, self.n_val // shrink
        n_test = len(y) - n_train - n_val if self.n_test is None else self.n_test // shrink
        train, val, test = np.split(order[: n_train + n_val + n_test], [n_train, n_train + n_val])
        return Split(seed, *((X[rows], y[rows]) for rows in (train, val, test)))


Rows = tuple[NDArray[np.float32], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of one repetition."""

    seed: int
    train: Rows
    val: Rows
    test: Rows

    @property
    def train_and_val(self) -> Rows:
        return np.vstack([self.train[0], self.val[0]]), np.concatenate([self.train[1], self.val[1]])

    @property
    def rows(self) -> dict[str, Any]:
        """T and V as `fit` takes them."""
        return {"X": self.train[0], "y": self.train[1], "X_val": self.val[0], "y_val": self.val[1]}


DATA_SETS = (
    DataSet(
        "Covertype",
        "covtype.npz",
        36_603,
        15_688,
        58_101,
        budgets=(6.5, 10.0, 14.0, 20.0),
        grid=BoostingGrid((0.003, 0.01, 0.03, 0.1), (63, 255), (50, 100), 0.1, 1.0),
    ),
    DataSet(
        "MiniBooNE",
        "miniboone.npz",
        25_500,
        11_000,
        None,
        budgets=(4.0, 7.0, 12.0, 16.5, 22.5),
        grid=BoostingGrid((0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2), (31, 63), (50, 100, 200), 0.1, 1e-3),
    ),
)
