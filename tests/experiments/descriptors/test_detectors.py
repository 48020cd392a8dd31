"""Detectors of waves and of texture."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune_experiments.descriptors.detectors import LENGTHS, wave_detectors, wave_energy
from budgetprune_experiments.descriptors.images import SIDE
from budgetprune_experiments.descriptors.texture import gabor_bank

CONSTANT = np.full((SIDE, SIDE), 0.7)


@pytest.mark.parametrize("length", LENGTHS)
def test_detectors_answer_to_their_wave(length):
    y, x = np.mgrid[:SIDE, :SIDE]
    angle = np.pi / 6
    wave = 0.5 + 0.5 * np.sin(2 * np.pi / length * (x * np.cos(angle) + y * np.sin(angle)) + 1.0)
    same, across, flat = (
        wave_energy(image, length=length, width=12, angle=turned)
        for image, turned in ((wave, angle), (wave, angle + np.pi / 2), (CONSTANT, angle))
    )
    assert same.shape == (4,)
    assert same.min() > 1.5 * across.max()
    np.testing.assert_allclose(flat, 0, atol=1e-12)


def test_plain_brightness_is_no_texture():
    np.testing.assert_allclose(gabor_bank(CONSTANT), 0, atol=1e-12)
    assert all(compute(CONSTANT).max() < 1e-12 for compute in wave_detectors().values())
