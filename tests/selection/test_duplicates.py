"""Detection of repeated rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from budgetprune.selection.duplicates import number_duplicates

CONTAINERS = {
    "array": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "bool": lambda X: X.astype(bool),
    "fortran": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "pandas": lambda X: pd.DataFrame(X),
    "nullable": lambda X: pd.DataFrame(X, dtype="Int64"),
    "category": lambda X: pd.DataFrame(X).astype(str).astype("category"),
    "polars": lambda X: pl.DataFrame(X),
    "text": lambda X: pl.DataFrame(X).cast(pl.String),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("y_type", [int, str, float])
def test_copies_are_found_in_whatever_holds_rows(container, y_type):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 5)).astype(float), rng.integers(0, 2, 60)
    expected = np.unique(np.c_[X, y], axis=0, return_inverse=True)[1].ravel()
    found = number_duplicates(CONTAINERS[container](X), y.astype(y_type))
    assert np.array_equal(found[:, np.newaxis] == found, expected[:, np.newaxis] == expected)


def test_explicit_zeros_and_their_signs_do_not_matter():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])
    y = np.zeros(3)
    written = sparse.csr_array((np.array([0.0, 1.0, 1.0, 1.0]), [0, 1, 1, 0], [0, 2, 3, 4]), (3, 2))
    for rows in (X, written):
        a, b, c = number_duplicates(rows, y)
        assert a == b != c


def test_cells_of_a_table_are_not_copies():
    X = np.arange(100)[:, np.newaxis] % 8
    assert np.array_equal(np.sort(number_duplicates(X, np.zeros(100))), np.arange(100))
