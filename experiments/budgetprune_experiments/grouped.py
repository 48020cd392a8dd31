"""Comparisons on descriptors of digits: features in groups, with measured prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from sklearn.ensemble import RandomForestClassifier

from budgetprune.costs import FeatureCosts
from budgetprune_experiments.comparison import Comparison
from budgetprune_experiments.descriptors.digits import GroupedDigits, PricedSplit, accuracies
from budgetprune_experiments.descriptors.margins import N_FOLDS, STRICTNESS
from budgetprune_experiments.experiment import Options, Record
from budgetprune_experiments.grids import QUICK, BoostingGrid, Grids
from budgetprune_experiments.split import Split

# With ten classes and a thousand features, rounds are slow; few are enough, because margins are informative.
# Linear models with weaker penalties than these are slow too, and separate all training rows anyway.
_ROUNDS = (2, 5, 10, 20)
GRIDS = Grids(
    miser=BoostingGrid(
        (0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03), (3, 4), _ROUNDS, learning_rate=0.3
    ),
    lazy=BoostingGrid((1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0), (15, 31), _ROUNDS, learning_rate=0.3),
    coupled=BoostingGrid((1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1), (15, 31), _ROUNDS, learning_rate=0.3),
    subsets=BoostingGrid((), (15, 31), _ROUNDS, learning_rate=0.3),
    l1=(3e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01),
)


class GroupedComparison(Comparison):
    """Comparison of methods on margins of descriptors; each descriptor is paid for as a whole."""

    cost_name = "average feature cost (CPU time of the cheapest descriptor = 1)"
    by_ratio = True
    seconds = 30.0
    max_features: ClassVar[str | float] = "sqrt"

    def substitute(self, options: Options) -> str | None:
        data = self.data(options)
        n_detectors = sum(each.is_detector for each in data.descriptors)
        return (
            f"{data.sizes.n_images:,} of scikit-learn's digits, enlarged to 64 x 64, for the 4,485 scenes "
            f"of Scene15; {len(data.descriptors) - n_detectors} descriptors and {n_detectors} detectors of "
            "waves for its 7 and 177; linear SVMs for kernel SVMs; prices are CPU times measured here"
        )

    def data(self, options: Options) -> GroupedDigits:
        """The digits, with cached values in the results folder."""
        return _data(options.out / "descriptors", options.quick, options.jobs)

    def split(self, seed: int, options: Options) -> Split:
        return self.data(options).split(seed)

    def costs(self, split: Split) -> FeatureCosts:
        assert isinstance(split, PricedSplit)
        return split.costs

    def forest(self, options: Options) -> Any:
        return RandomForestClassifier(
            10 if options.quick else 500,
            criterion="entropy",
            max_features=self.max_features,
            n_jobs=options.jobs,
        )

    def grids(self, options: Options) -> Grids:
        return QUICK if options.quick else GRIDS

    def settings(self, options: Options) -> Record:
        """Settings, including the measured prices, which all parts of a result must share."""
        data = self.data(options)
        return super().settings(options) | {
            "sizes": asdict(data.sizes),
            "folds": N_FOLDS,
            "strictness": STRICTNESS,
            "prices": [asdict(price) for price in data.prices],
        }

    def describe(self, seed: int, options: Options) -> list[Record]:
        """Compute the margins for a seed, and the accuracy of each descriptor alone."""
        data = self.data(options)
        split = data.split(seed)
        alone = accuracies(split, len(data.descriptors))
        return [
            {
                "descriptor": descriptor.name,
                "is_detector": descriptor.is_detector,
                "length": values.shape[1],
                "seed": seed,
                "train_accuracy": alone["train"][k],
                "test_accuracy": alone["test"][k],
            }
            for k, (descriptor, values) in enumerate(zip(data.descriptors, data.values(), strict=True))
        ]


def curves_only(records: Sequence[Record]) -> list[Record]:
    """Records of methods, without those of descriptors."""
    return [record for record in records if "method" in record]


@lru_cache(maxsize=1)
def _data(folder: Path, quick: bool, jobs: int) -> GroupedDigits:
    return GroupedDigits(folder, quick=quick, jobs=jobs)
