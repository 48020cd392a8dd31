"""Means and histograms of cells."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune_experiments.descriptors.cells import cell_histograms, cell_means


def test_cells():
    image = np.random.default_rng(0).random((8, 8))
    codes = np.random.default_rng(1).integers(0, 3, (8, 8))
    means, histograms, weighted = (
        cell_means(image, 4),
        cell_histograms(codes, 3, 4),
        cell_histograms(codes, 3, 4, weight=image),
    )
    for cell, (y, x) in enumerate([(0, 0), (0, 4), (4, 0), (4, 4)]):
        inside, code = image[y : y + 4, x : x + 4], codes[y : y + 4, x : x + 4]
        assert means[cell] == pytest.approx(inside.mean())
        for c in range(3):
            assert histograms[3 * cell + c] == pytest.approx(np.mean(code == c))
            assert weighted[3 * cell + c] == pytest.approx(inside[code == c].sum() / 16)
