"""Descriptors of images, and their prices."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from budgetprune import cli
from budgetprune_experiments.descriptors.cells import cell_histograms, cell_means
from budgetprune_experiments.descriptors.descriptor import CHUNK, Descriptor, describe, load_descriptors
from budgetprune_experiments.descriptors.detectors import LENGTHS, wave_detectors, wave_energy
from budgetprune_experiments.descriptors.images import SIDE, load_large_digits
from budgetprune_experiments.descriptors.prices import kept_prices, measure_prices
from budgetprune_experiments.descriptors.texture import gabor_bank

CONSTANT = np.full((SIDE, SIDE), 0.7)


@pytest.fixture(scope="module")
def images():
    return load_large_digits(30)[0]


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


# --- Prices -------------------------------------------------------------------------------------------------


class Worker:
    """Takes as long as it is told, image by image, on a clock of its own."""

    def __init__(self, *nanoseconds):
        self.nanoseconds = nanoseconds
        self.now = 0

    def descriptor(self, name, factor):
        def compute(image):
            self.now += factor * self.nanoseconds[int(image[0, 0])]
            return image

        return Descriptor(name, compute)


def test_prices_are_medians_in_units_of_the_cheapest():
    worker = Worker(900_000, 2_000, 3_000, 1_000, 4_000)
    some = [worker.descriptor("dear", 50), worker.descriptor("cheap", 2), worker.descriptor("third", 3)]
    images = np.arange(5.0)[:, None, None] * np.ones((1, 2, 2))
    dear, cheap, third = measure_prices(some, images, clock=lambda: worker.now)
    assert (dear.descriptor, cheap.descriptor, third.descriptor) == ("dear", "cheap", "third")
    assert (cheap.microseconds, cheap.lower, cheap.upper) == (6.0, 4.0, 8.0)  # the slow one does not count
    assert (dear.price, cheap.price, third.price) == (25.0, 1.0, 1.5)


def test_measured_prices(images):
    prices = measure_prices(load_descriptors(only_cheap=True), images[:3])
    assert min(price.price for price in prices) == 1
    assert all(0 < price.lower <= price.microseconds <= price.upper for price in prices)


def test_prices_are_measured_once(tmp_path, images):
    def measure():
        return measure_prices(load_descriptors(only_cheap=True), images[:2])

    def never():
        raise AssertionError("measured again")

    file = tmp_path / "new" / "prices.json"
    assert kept_prices(file, measure) == kept_prices(file, never)


def test_scikit_image_is_missing(monkeypatch, capfd, tmp_path):
    monkeypatch.setitem(sys.modules, "skimage", None)
    words = ["budgetprune", "reproduce", "figure1d", "--quick", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert "descriptors need scikit-image: pip install 'budgetprune[reproduce]'" in capfd.readouterr().err
