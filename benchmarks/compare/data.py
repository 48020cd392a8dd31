"""The data sets, divided anew for each seed: T grows, V chooses, test rows report and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.measure import BenchmarkError
from benchmarks.shapes import DATA, data_file
from budgetprune.experiments._grids import BoostingGrid
from budgetprune.experiments._split import Split, shuffle_split

# Divides the rows of a file once into those for design and those for reports.
DESIGN_SEED = 2016


@dataclass(frozen=True)
class DataSet:
    """Where rows come from, how many do what, the budgets of interest (unit costs), and CEGB's grid.

    Costs are compared at the accuracies `levels`. Design choices of staged models were made on `n_design`
    rows, which no report uses.
    """

    name: str
    file: str
    n_design: int
    n_train: int
    n_val: int
    n_test: int | None
    budgets: tuple[float, ...]
    levels: tuple[float, ...]
    grid: BoostingGrid

    def divide(self, seed: int, shrink: int = 1) -> Split:
        """Shuffle and divide the rows; `shrink` takes fewer of each, for a quick run."""
        found = data_file(self.file)
        if found is None:
            raise BenchmarkError(f"{self.file} is not there; set {DATA} to the folder that holds it.")
        with np.load(found, allow_pickle=False) as stored:
            X, y = stored["X"], stored["y"]
        reported = np.random.default_rng(DESIGN_SEED).permutation(len(y))[self.n_design // shrink :]
        return shuffle_split(
            X[reported],
            y[reported],
            seed,
            n_train=self.n_train // shrink,
            n_val=self.n_val // shrink,
            n_test=None if self.n_test is None else self.n_test // shrink,
        )


DATA_SETS = (
    DataSet(
        "Covertype",
        "covtype.npz",
        200_000,
        36_603,
        15_688,
        58_101,
        budgets=(6.5, 9.0, 10.0, 11.0, 12.5, 14.0, 20.0),
        levels=(0.822, 0.857, 0.889, 0.901),
        grid=BoostingGrid((0.003, 0.01, 0.03, 0.1), (63, 255), (50, 100), 0.1, 1.0),
    ),
    DataSet(
        "MiniBooNE",
        "miniboone.npz",
        20_000,
        25_500,
        11_000,
        None,
        budgets=(4.0, 5.0, 6.0, 7.0, 9.0, 12.0, 14.0, 16.5, 22.5),
        levels=(0.904, 0.914, 0.922, 0.927, 0.932),
        grid=BoostingGrid((0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2), (31, 63), (50, 100, 200), 0.1, 1e-3),
    ),
)
