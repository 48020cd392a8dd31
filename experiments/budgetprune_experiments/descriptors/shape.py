"""Descriptors of shape."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt
from skimage.measure import moments_central, moments_hu, moments_normalized
from skimage.morphology import skeletonize
from skimage.transform import radon

from budgetprune_experiments.descriptors.cells import Floats, cell_means

INK = 0.5


def hu_moments(image: Floats) -> Floats:
    """Hu's seven moments, invariant to position, size and rotation; on a logarithmic scale."""
    moments = moments_hu(moments_normalized(moments_central(image)))
    return np.asarray(np.sign(moments) * np.log1p(1e6 * np.abs(moments)), dtype=np.float64)


def skeleton(image: Floats) -> Floats:
    """Share of pixels on the skeleton of the ink, in cells."""
    return cell_means(skeletonize(image > INK), 8)


def distances(image: Floats) -> Floats:
    """Distance to the border of the ink, negative outside, in cells."""
    ink = image > INK
    return cell_means(distance_transform_edt(ink) - distance_transform_edt(~ink), 8)


def shadows(image: Floats) -> Floats:
    """Projections in twelve directions (Radon transform)."""
    return np.asarray(radon(image, np.arange(0, 180, 15), circle=False))[::4].ravel()
