"""Means and histograms over square cells of an image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cell_means(maps: NDArray[Any], size: int) -> Floats:
    """Mean in each cell of `size` times `size` pixels, of one map or a stack of them; flat."""
    height, width = maps.shape[-2:]
    cells = maps.reshape(*maps.shape[:-2], height // size, size, width // size, size)
    return np.asarray(cells.mean(axis=(-3, -1)), dtype=np.float64).ravel()


def cell_histograms(codes: NDArray[Any], n_codes: int, size: int, weight: Floats | None = None) -> Floats:
    """Frequency (or total weight) of each code in each cell, per pixel of the cell; flat."""
    height, width = codes.shape
    row, column = np.arange(height) // size, np.arange(width) // size
    cell = row[:, None] * (width // size) + column
    n_cells = (height // size) * (width // size)
    counts = np.bincount(
        (cell * n_codes + codes).ravel(),
        None if weight is None else weight.ravel(),
        minlength=n_cells * n_codes,
    )
    return np.asarray(counts / size**2, dtype=np.float64)
