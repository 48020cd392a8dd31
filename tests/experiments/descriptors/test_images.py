"""Large digits."""

from __future__ import annotations

import numpy as np

from budgetprune_experiments.descriptors.cells import cell_means
from budgetprune_experiments.descriptors.images import SIDE, load_large_digits


def test_digits_are_enlarged_smoothly(images):
    large, labels = load_large_digits()
    assert large.shape == (1797, SIDE, SIDE)
    assert labels.shape == (1797,)
    np.testing.assert_array_equal(large[:30], images)
    assert large.min() >= 0
    assert large.max() <= 1
    assert np.abs(np.diff(images, axis=1)).max() < 0.25  # enlarged by copies, a step can be as high as 1
    from sklearn.datasets import load_digits

    small = load_digits().images[:30] / 16
    assert np.corrcoef(cell_means(images, 8), small.ravel())[0, 1] > 0.98
