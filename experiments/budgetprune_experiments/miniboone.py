"""Split of MiniBooNE for several experiments, and its substitute in a quick run."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from budgetprune.datasets import Dataset, load_miniboone
from budgetprune_experiments.experiment import Options
from budgetprune_experiments.split import Split, shuffle_split

N_TRAIN, N_VAL = 25_500, 11_000

_load = lru_cache(maxsize=1)(load_miniboone)


def miniboone_datasets(options: Options) -> tuple[Dataset, ...]:
    """Data sets read from files, if any."""
    return () if options.quick else (_load(options.data_dir),)


def miniboone_split(seed: int, options: Options) -> Split:
    """25,500 rows for training, 11,000 for validation, all others for the test."""
    if options.quick:
        X, y = load_breast_cancer(return_X_y=True)
        return shuffle_split(X.astype(np.float32), y, seed, n_train=250, n_val=120)
    data = _load(options.data_dir)
    return shuffle_split(data.X, data.y, seed, n_train=N_TRAIN, n_val=N_VAL)


def miniboone_substitute(options: Options) -> str | None:
    """Describe how these rows differ from the paper's."""
    if options.quick:
        return "breast cancer, which comes with scikit-learn, for MiniBooNE"
    note = _load(options.data_dir).note
    # The whole data set is the paper's own, divided otherwise.
    return (
        f"{note}, split {N_TRAIN:,} / {N_VAL:,} / rest (the paper: 45,523 / 19,510 / 65,031)"
        if note
        else None
    )


def entropy_forest(options: Options) -> Any:
    """The paper's base forest on MiniBooNE and Covertype: 40 trees that may split on any feature."""
    return RandomForestClassifier(
        6 if options.quick else 40, criterion="entropy", max_features=None, n_jobs=options.jobs
    )
