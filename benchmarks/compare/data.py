"""The data sets, divided anew for each seed: T grows, V chooses, test rows report and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.measure import BenchmarkError
from benchmarks.shapes import DATA, data_file
from budgetprune.experiments._grids import BoostingGrid
from budgetprune.experiments._split import Split, shuffle_split


@dataclass(frozen=True)
class DataSet:
    """Where rows come from, how many do what, the budgets of interest (unit costs), and CEGB's grid."""

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
        return shuffle_split(
            X,
            y,
            seed,
            n_train=self.n_train // shrink,
            n_val=self.n_val // shrink,
            n_test=None if self.n_test is None else self.n_test // shrink,
        )


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
