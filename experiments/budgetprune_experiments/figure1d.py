"""Figure 1 (d): features in groups, whose prices are CPU times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from budgetprune_experiments.comparison import SAME
from budgetprune_experiments.experiment import Cell, Options, Part, Record, Table, register
from budgetprune_experiments.grouped import GroupedComparison, curves_only
from budgetprune_experiments.methods import UNPRUNED
from budgetprune_experiments.records import least_cost_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# "The same accuracy at the cost of 9 as at the full cost of 32."
PAPERS_SHARE = 9 / 32


class Figure1d(GroupedComparison):
    """All methods on descriptors of digits: 500 entropy trees on random subsets of the features."""

    name = "figure1d"
    title = "Figure 1 (d): grouped descriptors"

    def parts(self, options: Options) -> Iterable[Part]:
        for seed in range(options.repeats):
            yield Part(f"seed {seed}, margins", partial(self.describe, seed, options))
        yield from super().parts(options)

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        curves = curves_only(records)
        return [*super().tables(curves, options), self._claim(curves), self._descriptors(records, options)]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        super().draw(curves_only(records), options, figure)

    def _claim(self, records: Sequence[Record]) -> Table:
        curves = self.mean_curves(records)
        whole = curves.pop(UNPRUNED)
        full, accuracy = float(whole.cost[0]), float(whole.score[0])
        rows: list[list[Cell]] = []
        for name, curve in curves.items():
            least = [least_cost_for(curve, accuracy - lost) for lost in (0.0, SAME)]
            rows.append([name, *(None if cost is None else f"{cost / full:.0%}" for cost in least)])
        return Table(
            "Share of the full cost that keeps the accuracy of the unpruned forest",
            ["method", "all of it", f"but {100 * SAME:g} points"],
            rows,
            note=f"The paper's pruning of Scene15: {PAPERS_SHARE:.0%} (cost 9 instead of 32). Here the "
            f"forest has an accuracy of {accuracy:.4f} at a full cost of {full:.1f}.",
        )

    def _descriptors(self, records: Sequence[Record], options: Options) -> Table:
        """Table of the descriptors: general ones one by one, detectors together."""
        rows: list[list[Cell]] = []
        detectors: list[list[float]] = []
        for price in self.data(options).prices:
            some = [record for record in records if record.get("descriptor") == price.descriptor]
            alone = float(np.mean([record["test_accuracy"] for record in some]))
            numbers = [some[0]["length"], price.microseconds, price.price, alone]
            if some[0]["is_detector"]:
                detectors.append(numbers)
            else:
                rows.append([price.descriptor, *numbers])
        rows.sort(key=lambda row: float(row[3] or 0))
        rows.append([f"{len(detectors)} wave detectors, median", *np.median(detectors, axis=0).tolist()])
        return Table(
            "Descriptors",
            ["descriptor", "length", "median CPU time (µs)", "price", "test accuracy alone"],
            rows,
            note="Prices are in units of the cheapest descriptor's time. Alone: the largest margin wins.",
        )


register(Figure1d())
