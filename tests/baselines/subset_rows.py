"""Rows for tests of `FeatureSubsets` and `Cascade`."""

from __future__ import annotations

import numpy as np

SMALL = {"n_estimators": 12, "num_leaves": 7, "random_state": 0, "n_jobs": 1}


def rows_with_noise(n_rows=500, n_noise=6, seed=0):
    """Labels that column 0 tells most of the time, and columns 0 and 1 nearly always; others are noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 2 + n_noise))
    y = (2 * X[:, 0] + X[:, 1] + 0.1 * random.normal(size=n_rows) > 0).astype(np.int64)
    return X, y
