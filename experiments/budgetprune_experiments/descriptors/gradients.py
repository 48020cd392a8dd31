"""Descriptors of edges and their directions."""

from __future__ import annotations

import numpy as np
from skimage.feature import canny, daisy, hog

from budgetprune_experiments.descriptors.cells import Floats, cell_histograms, cell_means

N_DIRECTIONS = 8


def directions(image: Floats) -> Floats:
    """Strength of the gradient in each of eight directions, in each quarter of the image."""
    down, right = np.gradient(image)
    turn = np.arctan2(down, right) / (2 * np.pi)
    code = np.floor(turn * N_DIRECTIONS).astype(np.int64) % N_DIRECTIONS
    return cell_histograms(code, N_DIRECTIONS, 32, weight=np.hypot(down, right))


def edges(image: Floats) -> Floats:
    """Share of pixels on edges (Canny), in cells."""
    return cell_means(canny(image, sigma=1.5), 8)


def coarse_hog(image: Floats) -> Floats:
    """Histograms of oriented gradients, in large cells."""
    return np.asarray(hog(image, orientations=8, pixels_per_cell=(16, 16), cells_per_block=(1, 1)))


def fine_hog(image: Floats) -> Floats:
    """Histograms of oriented gradients in small cells, each normalised by several neighbourhoods."""
    return np.asarray(hog(image, orientations=9, pixels_per_cell=(8, 8), cells_per_block=(2, 2)))


def dense_daisy(image: Floats) -> Floats:
    """Orientations around points of a grid, in rings (DAISY)."""
    return np.asarray(daisy(image, step=16, radius=12, rings=2, histograms=6, orientations=8)).ravel()
