"""Descriptors of images."""

from __future__ import annotations

import numpy as np

from budgetprune_experiments.descriptors.descriptor import CHUNK, Descriptor, describe, load_descriptors


def test_there_are_general_descriptors_and_detectors():
    descriptors = load_descriptors()
    names = [each.name for each in descriptors]
    assert len(set(names)) == len(names)
    assert sum(each.is_detector for each in descriptors) == 96
    assert sum(not each.is_detector for each in descriptors) == 16
    cheap = load_descriptors(only_cheap=True)
    assert {each.name for each in cheap} < set(names)
    assert sum(each.is_detector for each in cheap) == 8


def test_values_are_finite_and_of_one_length(images):
    descriptors = load_descriptors()
    values = describe(descriptors, images[:4])
    assert len(values) == len(descriptors)
    for descriptor, each in zip(descriptors, values, strict=True):
        assert each.ndim == 2, descriptor.name
        assert len(each) == 4, descriptor.name
        assert each.dtype == np.float32
        assert np.isfinite(each).all(), descriptor.name
        assert np.ptp(each, axis=0).max() > 0, descriptor.name  # it tells images apart


def test_chunks_change_nothing():
    means = Descriptor("mean", lambda image: np.array([image.mean()]))
    images = np.random.default_rng(0).random((CHUNK + 3, 4, 4))
    (values,) = describe([means], images)
    np.testing.assert_allclose(values[:, 0], images.mean(axis=(1, 2)), rtol=1e-6)
