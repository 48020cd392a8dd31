"""Descriptors, from cheap to expensive, and their values for all images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from budgetprune_experiments.descriptors.cells import Floats
from budgetprune_experiments.descriptors.detectors import wave_detectors

Compute = Callable[[Floats], Floats]
CHUNK = 64  # images that a process takes at once


@dataclass(frozen=True)
class Descriptor:
    """Function of an image (64 x 64, intensities from 0 to 1) with one price for all its values."""

    name: str
    compute: Compute
    is_detector: bool = False


def load_descriptors(*, only_cheap: bool = False) -> list[Descriptor]:
    """List the descriptors, or some of those that take less than about a millisecond.

    They are imported here, so that experiments can be listed without scikit-image.
    """
    try:
        import skimage  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "descriptors need scikit-image: pip install 'budgetprune[reproduce]'", name="skimage"
        ) from error
    from budgetprune_experiments.descriptors import gradients as _gradients
    from budgetprune_experiments.descriptors import intensity as _intensity
    from budgetprune_experiments.descriptors import shape as _shape
    from budgetprune_experiments.descriptors import texture as _texture

    cheap: dict[str, Compute] = {
        "blocks": _intensity.blocks,
        "histogram": _intensity.histogram,
        "profiles": _intensity.profiles,
        "Hu moments": _shape.hu_moments,
        "skeleton": _shape.skeleton,
        "directions": _gradients.directions,
        "HOG, coarse": _gradients.coarse_hog,
        "LBP, near": _texture.near_patterns,
    }
    dear: dict[str, Compute] = {
        "distances": _shape.distances,
        "GLCM": _texture.cooccurrence,
        "Canny edges": _gradients.edges,
        "LBP, far": _texture.far_patterns,
        "HOG, fine": _gradients.fine_hog,
        "Radon": _shape.shadows,
        "Gabor bank": _texture.gabor_bank,
        "DAISY": _gradients.dense_daisy,
    }
    general = cheap if only_cheap else cheap | dear
    detectors = wave_detectors(n_directions=1) if only_cheap else wave_detectors()
    return [
        *(Descriptor(name, compute) for name, compute in general.items()),
        *(Descriptor(name, compute, is_detector=True) for name, compute in detectors.items()),
    ]


def describe(descriptors: Sequence[Descriptor], images: Floats, jobs: int = 1) -> list[NDArray[np.float32]]:
    """Compute all descriptors of all images: one array (n_images, length) per descriptor."""
    chunks = [images[start : start + CHUNK] for start in range(0, len(images), CHUNK)]
    done = Parallel(n_jobs=jobs)(delayed(_describe_chunk)(descriptors, chunk) for chunk in chunks)
    return [np.concatenate(values) for values in zip(*done, strict=True)]


def _describe_chunk(descriptors: Sequence[Descriptor], images: Floats) -> list[NDArray[np.float32]]:
    return [
        np.array([descriptor.compute(image) for image in images], dtype=np.float32)
        for descriptor in descriptors
    ]
