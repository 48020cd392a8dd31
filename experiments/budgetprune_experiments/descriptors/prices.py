"""Prices of descriptors: the CPU time that each takes here."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from budgetprune.utils.files import written_atomically
from budgetprune_experiments.descriptors.cells import Floats
from budgetprune_experiments.descriptors.descriptor import Descriptor


@dataclass(frozen=True)
class Price:
    """CPU time of one descriptor for one image.

    Attributes
    ----------
    descriptor : str
    microseconds : float
        Median over images; `lower` and `upper` are the quartiles.
    price : float
        Median in units of the cheapest descriptor's median, to three digits.
    """

    descriptor: str
    microseconds: float
    lower: float
    upper: float
    price: float


def measure_prices(
    descriptors: Sequence[Descriptor], images: Floats, clock: Callable[[], int] = time.process_time_ns
) -> list[Price]:
    """Time each descriptor on each image, and divide by the cheapest median.

    All descriptors of an image are timed one after the other, so that other load on the machine affects them
    equally. The order is random, because each descriptor leaves another state of the caches.
    """
    random = np.random.default_rng(0)
    nanoseconds = np.empty((len(images), len(descriptors)))
    with threadpool_limits(1):
        for descriptor in descriptors:
            descriptor.compute(images[0])  # warm-up: imports and tables are not timed
        for i, image in enumerate(images):
            for k in random.permutation(len(descriptors)):
                start = clock()
                descriptors[k].compute(image)
                nanoseconds[i, k] = clock() - start
    lower, median, upper = np.quantile(nanoseconds / 1000, [0.25, 0.5, 0.75], axis=0)
    return [
        Price(
            descriptor.name,
            round(float(median[k]), 1),
            round(float(lower[k]), 1),
            round(float(upper[k]), 1),
            float(f"{median[k] / median.min():.3g}"),
        )
        for k, descriptor in enumerate(descriptors)
    ]


def kept_prices(file: Path, measure: Callable[[], list[Price]]) -> list[Price]:
    """Read prices from a file, or measure and write them, so that a resumed run has the same prices."""
    if file.exists():
        return [Price(**entry) for entry in json.loads(file.read_bytes())]
    prices = measure()
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_atomically(file) as handle:
        handle.write(json.dumps([asdict(price) for price in prices], indent=1).encode())
    return prices
