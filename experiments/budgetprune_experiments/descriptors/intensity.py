"""Descriptors of intensities: nearly free."""

from __future__ import annotations

import numpy as np

from budgetprune_experiments.descriptors.cells import Floats, cell_means

N_LEVELS = 16
PROFILE_STEP = 4


def blocks(image: Floats) -> Floats:
    """Mean intensity of 4 x 4 blocks.

    Finer blocks would provide the original 8 x 8 digit, which all descriptors are computed from, at a very
    low price.
    """
    return cell_means(image, 16)


def histogram(image: Floats) -> Floats:
    """Histogram of the intensities of all pixels."""
    return np.bincount(levels(image).ravel(), minlength=N_LEVELS) / image.size


def profiles(image: Floats) -> Floats:
    """Mean intensity of rows and of columns."""
    sides = np.stack([image.mean(axis=0), image.mean(axis=1)])
    return np.asarray(sides.reshape(2, -1, PROFILE_STEP).mean(axis=2), dtype=np.float64).ravel()


def levels(image: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Intensities as whole numbers below `N_LEVELS`."""
    return np.minimum(image * N_LEVELS, N_LEVELS - 1).astype(np.uint8)
