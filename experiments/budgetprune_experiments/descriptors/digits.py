"""Rows of images: margins of all descriptors, and a price for each descriptor.

Slow results are cached in files, which resumed runs and other experiments of the same folder reuse.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from budgetprune import __version__
from budgetprune.costs import FeatureCosts
from budgetprune.selection import LabelledRows
from budgetprune.utils.files import written_atomically
from budgetprune_experiments.descriptors.descriptor import Descriptor, describe, load_descriptors
from budgetprune_experiments.descriptors.images import load_large_digits
from budgetprune_experiments.descriptors.margins import Margins, cross_fitted_margins
from budgetprune_experiments.descriptors.prices import Price, kept_prices, measure_prices
from budgetprune_experiments.split import Split, shuffle_split

Arrays = list[NDArray[np.float32]]


@dataclass(frozen=True)
class Sizes:
    """Numbers of images, digits, images per part of the split (rest: test), and timed images."""

    n_images: int
    n_classes: int
    n_train: int
    n_val: int
    n_timed: int


ALL = Sizes(n_images=1797, n_classes=10, n_train=600, n_val=300, n_timed=100)
FEW = Sizes(n_images=160, n_classes=4, n_train=80, n_val=40, n_timed=5)


@dataclass(frozen=True, eq=False)
class PricedSplit(Split):
    """A split with the prices of its features."""

    costs: FeatureCosts


class GroupedDigits:
    """Digits, described and priced: a group of features per descriptor (one per class), paid for as a whole.

    Parameters
    ----------
    folder : Path
        Where values, margins and prices are kept.
    quick : bool
        Use a few images, and only fast descriptors.
    jobs : int
        Number of processes.
    """

    def __init__(self, folder: Path, *, quick: bool = False, jobs: int = 1) -> None:
        self.sizes = FEW if quick else ALL
        self.descriptors: Sequence[Descriptor] = load_descriptors(only_cheap=quick)
        self._jobs = 1 if quick else jobs
        made_of = [__version__, asdict(self.sizes), [each.name for each in self.descriptors]]
        self.folder = folder / hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]

    @cached_property
    def images(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Enlarged images, and their labels."""
        return load_large_digits(self.sizes.n_images, self.sizes.n_classes)

    @cached_property
    def prices(self) -> list[Price]:
        """Measured price of each descriptor."""

        def measure() -> list[Price]:
            images, _ = self.images
            timed = np.linspace(0, len(images) - 1, self.sizes.n_timed).astype(int)
            return measure_prices(self.descriptors, images[timed])

        return kept_prices(self.folder / "prices.json", measure)

    @property
    def costs(self) -> FeatureCosts:
        """Feature costs: the price of a descriptor covers its margins for all classes."""
        groups = [each.descriptor for each in self.prices for _ in range(self.sizes.n_classes)]
        return FeatureCosts(groups=groups, group_costs={each.descriptor: each.price for each in self.prices})

    def values(self) -> Arrays:
        """Values of each descriptor for each image: an array (n_images, length) per descriptor."""
        return _kept(
            self.folder / "values.npz", lambda: describe(self.descriptors, self.images[0], self._jobs)
        )

    def split(self, seed: int) -> PricedSplit:
        """Divide the images, and make their margins; T's are cross-fitted."""
        _, labels = self.images
        rows = shuffle_split(
            np.arange(len(labels)), labels, seed, n_train=self.sizes.n_train, n_val=self.sizes.n_val
        )
        roles = rows.train, rows.val, rows.test
        margins = _kept(self.folder / f"margins {seed}.npz", lambda: self._margins(roles, seed))
        train, val, test = (LabelledRows(X, role.y) for X, role in zip(margins, roles, strict=True))
        return PricedSplit(seed, train, val, test, self.costs)

    def _margins(self, roles: tuple[LabelledRows, LabelledRows, LabelledRows], seed: int) -> Arrays:
        train, *others = roles
        per_descriptor: list[Margins] = Parallel(n_jobs=self._jobs)(
            delayed(cross_fitted_margins)(values[train.X], train.y, [values[role.X] for role in others], seed)
            for values in self.values()
        )
        return [
            np.hstack([each.train for each in per_descriptor]),
            *(np.hstack([each.others[k] for each in per_descriptor]) for k in range(len(others))),
        ]


def _kept(file: Path, make: Callable[[], Arrays]) -> Arrays:
    """Read arrays from a file, or make and write them."""
    if file.exists():
        with np.load(file) as kept:
            return [kept[f"arr_{k}"] for k in range(len(kept.files))]
    arrays = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_atomically(file) as handle:
        np.savez(handle, *arrays)
    return arrays


def accuracies(split: Split, n_descriptors: int) -> dict[str, Any]:
    """Accuracy of each descriptor alone: share of rows with the largest margin for their own class."""
    found = {}
    for role, rows in (("train", split.train), ("test", split.test)):
        classes = np.unique(split.train.y)
        best = rows.X.reshape(len(rows), n_descriptors, classes.size).argmax(axis=2)
        found[role] = np.mean(classes[best] == rows.y[:, None], axis=0)
    return found
