"""Descriptors of texture."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from skimage.feature import graycomatrix, graycoprops, local_binary_pattern

from budgetprune_experiments.descriptors.cells import Floats, cell_histograms, cell_means
from budgetprune_experiments.descriptors.images import SIDE
from budgetprune_experiments.descriptors.intensity import N_LEVELS, levels


def near_patterns(image: Floats) -> Floats:
    """Local binary patterns of the eight neighbours, in cells."""
    return _binary_patterns(image, n_neighbours=8, radius=1)


def far_patterns(image: Floats) -> Floats:
    """Local binary patterns of sixteen points further away, in cells."""
    return _binary_patterns(image, n_neighbours=16, radius=3)


def cooccurrence(image: Floats) -> Floats:
    """Co-occurrence of intensities at two distances and in four directions (GLCM)."""
    angles = np.arange(4) * np.pi / 4
    matrix = graycomatrix(levels(image), [2, 8], angles, N_LEVELS, symmetric=True, normed=True)
    properties = ("contrast", "homogeneity", "energy", "correlation")
    return np.concatenate([np.asarray(graycoprops(matrix, name)).ravel() for name in properties])


def gabor_bank(image: Floats) -> Floats:
    """Energy of waves of three lengths, each in eight directions, in cells."""
    return cell_means(np.abs(np.fft.ifft2(np.fft.fft2(image) * gabor_filters())), 16)


def _binary_patterns(image: Floats, n_neighbours: int, radius: int) -> Floats:
    bytes_ = (255 * image).astype(np.uint8)  # of floats, equal neighbours may differ by rounding
    codes = local_binary_pattern(bytes_, n_neighbours, radius, method="uniform")
    return cell_histograms(codes.astype(np.int64), n_neighbours + 2, 16)


@cache
def gabor_filters() -> NDArray[np.complex128]:
    """Fourier transforms of Gabor filters with a bandwidth of one octave and no response to constants."""
    y, x = np.mgrid[-SIDE // 2 : SIDE // 2, -SIDE // 2 : SIDE // 2]
    waves = []
    for frequency in (0.04, 0.08, 0.16):  # per pixel
        bell = np.exp(-(x**2 + y**2) / (2 * (0.56 / frequency) ** 2))
        bell /= bell.sum()
        for angle in np.arange(8) * np.pi / 8:
            wave = bell * np.exp(2j * np.pi * frequency * (x * np.cos(angle) + y * np.sin(angle)))
            waves.append(wave - wave.sum() * bell)
    transformed: NDArray[np.complex128] = np.fft.fft2(np.fft.ifftshift(np.array(waves), axes=(-2, -1)))
    return transformed
