"""Wave detectors: many cheap descriptors, each with its own price.

They replace the detectors of the Object Bank, which are 177 of the paper's 184 descriptors of Scene15.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune_experiments.descriptors.cells import Floats
from budgetprune_experiments.descriptors.images import SIDE

# Wavelengths in pixels. The shortest wave of an 8 x 8 digit is two of its pixels, 16 pixels once enlarged.
LENGTHS = (16, 20, 29, 50)
WIDTHS = (6, 12)
N_DIRECTIONS = 12
STEP = 2  # nothing is lost: images are smooth
GRID = 2


def wave_detectors(n_directions: int = N_DIRECTIONS) -> dict[str, partial[Floats]]:
    """Name the detectors, of all lengths and widths in a number of directions."""
    turns = [k / n_directions for k in range(n_directions)]
    return {
        f"wave {length}/{width}, {180 * turn:g}°": partial(
            wave_energy, length=length, width=width, angle=np.pi * turn
        )
        for length, width, turn in product(LENGTHS, WIDTHS, turns)
    }


def wave_energy(image: Floats, *, length: float, width: float, angle: float) -> Floats:
    """Energy of a wave at each point of a grid, independent of its phase."""
    cosine, sine = wave_templates(length, width, angle) @ image[::STEP, ::STEP].ravel()
    energy: Floats = np.hypot(cosine, sine)
    return energy


@cache
def wave_templates(length: float, width: float, angle: float) -> NDArray[np.float64]:
    """Gabor templates at each point of the grid, in two phases: (2, n_places, n_pixels).

    Every second pixel is used. Templates have mean 0, so that constant brightness has no effect.
    """
    pixel = np.arange(0, SIDE, STEP)[None, :]
    centre = ((np.arange(GRID) + 0.5) * SIDE / GRID)[:, None] - 0.5
    bell_1d = np.exp(-((pixel - centre) ** 2) / (2 * width**2))
    bell_1d /= bell_1d.sum(axis=1, keepdims=True)
    turn = 2j * np.pi / length * (pixel - centre)
    down, right = bell_1d * np.exp(turn * np.sin(angle)), bell_1d * np.exp(turn * np.cos(angle))
    wave = _outer(down, right)
    wave -= wave.sum(axis=1, keepdims=True) * _outer(bell_1d, bell_1d)
    return np.stack([wave.real, wave.imag])


def _outer(down: NDArray[Any], right: NDArray[Any]) -> NDArray[np.complex128]:
    """Products of all pairs of rows: (n_places, n_pixels)."""
    products: NDArray[np.complex128] = down[:, None, :, None] * right[None, :, None, :] + 0j
    return products.reshape(GRID**2, -1)
