"""Prices of descriptors: the time that they take."""

from __future__ import annotations

import numpy as np

from budgetprune_experiments.descriptors.descriptor import Descriptor, load_descriptors
from budgetprune_experiments.descriptors.prices import kept_prices, measure_prices


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
