"""Figure 1 (b): Forest Covertype, unit costs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from sklearn.datasets import load_digits

from budgetprune.datasets import Dataset, load_covertype
from budgetprune_experiments.comparison import Comparison
from budgetprune_experiments.experiment import Options, register
from budgetprune_experiments.grids import QUICK, BoostingGrid, Grids
from budgetprune_experiments.split import Split, shuffle_split

SIZES = {"n_train": 36_603, "n_val": 15_688, "n_test": 58_101}

# Seven classes, two of them rare, with boundaries that need large trees.
GRIDS = Grids(
    miser=BoostingGrid(
        (0.0, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3),
        (6, 8, 4),
        (2, 5, 10, 20, 40, 60),
        learning_rate=0.3,
    ),
    lazy=BoostingGrid(
        (1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2),
        (127, 255, 31),
        (5, 10, 20, 40, 60),
        learning_rate=0.2,
        least_hessian=1.0,
    ),
    coupled=BoostingGrid(
        (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03),
        (127, 255, 31),
        (5, 10, 20, 40, 60),
        learning_rate=0.2,
        least_hessian=1.0,
    ),
    subsets=BoostingGrid((), (127, 255, 31), (5, 10, 20, 40, 60), learning_rate=0.2, least_hessian=1.0),
)

load = lru_cache(maxsize=1)(load_covertype)


class Figure1b(Comparison):
    """All methods on Covertype, with the paper's numbers of rows."""

    name = "figure1b"
    title = "Figure 1 (b): Forest Covertype"
    costs_shown = (4.0, 7.0, 10.0, 14.0, 20.0)
    # Seven classes make seven ensembles of each boosted model; with less time, few would be tried.
    seconds = 60.0

    def substitute(self, options: Options) -> str | None:
        return "digits, which come with scikit-learn, for Covertype" if options.quick else None

    def datasets(self, options: Options) -> tuple[Dataset, ...]:
        return () if options.quick else (load(options.data_dir),)

    def grids(self, options: Options) -> Grids:
        return QUICK if options.quick else GRIDS

    def split(self, seed: int, options: Options) -> Split:
        if options.quick:
            X, y = load_digits(n_class=4, return_X_y=True)
            return shuffle_split(X.astype(np.float32), y, seed, n_train=250, n_val=120, n_test=200)
        data = load(options.data_dir)
        return shuffle_split(data.X, data.y, seed, **SIZES)


register(Figure1b())
