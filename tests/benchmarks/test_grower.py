"""The benchmark of the grower runs, at a size that says nothing about speed."""

from __future__ import annotations

import numpy as np

from benchmarks.grower import BAR, measure


def test_its_row():
    X = np.random.default_rng(0).normal(size=(150, 4)).astype(np.float32)
    section = measure("tiny", (X, (X[:, 0] > 0).astype(np.int64)))
    (row,) = section.rows
    assert row.value > 0
    assert row.bar == BAR == 3.0
    assert "nodes per tree" in row.note
    assert "150 rows, 4 features" in section.size
