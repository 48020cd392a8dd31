"""Split of MiniBooNE for several experiments, and its substitute in a quick run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from budgetprune.datasets import Dataset, load_miniboone
from budgetprune_experiments.experiment import Experiment, Options, Part, Record
from budgetprune_experiments.split import Split, shuffle_split

N_TRAIN, N_VAL = 25_500, 11_000

_load = lru_cache(maxsize=1)(load_miniboone)


def miniboone_split(seed: int, options: Options) -> Split:
    """Split MiniBooNE: 25,500 rows for training, 11,000 for validation, all others for the test."""
    if options.quick:
        X, y = load_breast_cancer(return_X_y=True)
        return shuffle_split(X.astype(np.float32), y, seed, n_train=250, n_val=120)
    data = load_rows(options)
    return shuffle_split(data.X, data.y, seed, n_train=N_TRAIN, n_val=N_VAL)


def load_rows(options: Options) -> Dataset:
    """Load MiniBooNE from its file, once per process."""
    return _load(options.data_dir)


class OnMiniboone(Experiment):
    """Base class of experiments on MiniBooNE: its data, and the description of the substitute."""

    def substitute(self, options: Options) -> str | None:
        if options.quick:
            return "breast cancer, which comes with scikit-learn, for MiniBooNE"
        note = load_rows(options).note
        # The data set is the same as in the paper, but the split is different.
        return (
            f"{note}, split {N_TRAIN:,} / {N_VAL:,} / rest (the paper: 45,523 / 19,510 / 65,031)"
            if note
            else None
        )

    def datasets(self, options: Options) -> tuple[Dataset, ...]:
        return () if options.quick else (load_rows(options),)


def entropy_forest(options: Options) -> Any:
    """The paper's base forest on MiniBooNE and Covertype: 40 trees that may split on any feature."""
    return RandomForestClassifier(
        6 if options.quick else 40, criterion="entropy", max_features=None, n_jobs=options.jobs
    )


class EntropyForestOnMiniboone(OnMiniboone):
    """Base class of experiments with one entropy forest per seed; a part is `run_seed`."""

    def settings(self, options: Options) -> Record:
        forest = entropy_forest(options).get_params()
        return {"forest": {name: value for name, value in forest.items() if name != "n_jobs"}}

    def parts(self, options: Options) -> Iterable[Part]:
        for seed in range(options.repeats):
            yield Part(f"seed {seed}", partial(self.run_seed, seed, options))

    @abstractmethod
    def run_seed(self, seed: int, options: Options) -> list[Record]:
        """Split the rows, train the forest, and measure."""
