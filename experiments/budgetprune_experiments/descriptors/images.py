"""Images: scikit-learn's digits, enlarged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import zoom
from sklearn.datasets import load_digits

SIDE = 64


def load_large_digits(
    n_images: int | None = None, n_classes: int = 10
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load digits, smoothly enlarged, with intensities from 0 to 1: (n_images, 64, 64), and labels."""
    digits = load_digits(n_class=n_classes)
    small, labels = digits.images[:n_images] / 16, digits.target[:n_images].astype(np.int64)
    side = small.shape[1]
    # Interpolation by cubic splines is linear, and the same for rows and columns: two matrix products
    # enlarge all images.
    stretch = zoom(np.eye(side), (SIDE // side, 1), order=3, mode="nearest", grid_mode=True)
    return np.clip(stretch @ small @ stretch.T, 0, 1), labels  # splines overshoot a little at edges
