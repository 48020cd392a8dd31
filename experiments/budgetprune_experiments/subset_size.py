"""`subset-size`: effect of the number of candidate features per split on pruning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from budgetprune_experiments.experiment import Cell, Experiment, Options, Part, Record, Table, register
from budgetprune_experiments.figures import draw_curves
from budgetprune_experiments.grouped import GroupedComparison
from budgetprune_experiments.methods import LINE_STYLES, OURS_PAPER, UNPRUNED
from budgetprune_experiments.tables import with_spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD_NAMES = (UNPRUNED, "CCP", "GreedyPrune", OURS_PAPER)
# Costs at which both forests are compared, as shares of the more expensive forest's cost.
SHARES = (0.1, 0.2, 0.3, 0.5, 0.75)


class _Side(GroupedComparison):
    """Results for one size of the feature subsets."""

    # The time limit includes growing the forest, which is slow if splits may use nearly all features.
    seconds = 60.0
    method_names = METHOD_NAMES


class _Few(_Side):
    name = "subset-size, few"
    title = "Subsets of √K features"
    max_features = "sqrt"


class _Many(_Side):
    name = "subset-size, many"
    title = "Subsets of 0.8 K features"
    max_features = 0.8


SIDES: dict[str, _Side] = {"√K": _Few(), "0.8 K": _Many()}
LINES = dict(zip(SIDES, ("-", "--"), strict=True))


class SubsetSize(Experiment):
    """Splits that choose from few features make better forests, which use more sources (appendix).

    The paper has 20 and 120 of 2,760 features. The rows are those of Figure 1 (d); both forests are pruned.
    """

    name = "subset-size"
    title = "How many features a split may choose from: √K against 0.8 K"
    figure_size = (8.0, 5.6)

    def substitute(self, options: Options) -> str | None:
        return next(iter(SIDES.values())).substitute(options)

    def settings(self, options: Options) -> Record:
        return {size: side.settings(options) for size, side in SIDES.items()}

    def parts(self, options: Options) -> Iterable[Part]:
        for same in zip(*(side.parts(options) for side in SIDES.values()), strict=True):
            for size, part in zip(SIDES, same, strict=True):
                yield Part(f"{part.key}, {size}", partial(_of_size, part, size))

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        sides = [side.tables(_side(records, size), options) for size, side in SIDES.items()]
        return [_side_by_side(records), *(table for tables in sides for table in tables)]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        named = [record | {"method": _named(record["method"], record["subset"])} for record in records]
        axes = figure.subplots()
        line_styles = {
            _named(method, size): replace(LINE_STYLES[method], line=line)
            for method in METHOD_NAMES
            for size, line in LINES.items()
        }
        draw_curves(
            axes,
            named,
            line_styles,
            cost_name=GroupedComparison.cost_name,
            by_ratio=GroupedComparison.by_ratio,
        )
        axes.legend(frameon=False, fontsize=8.5)
        figure.suptitle(self.title, x=0.01, ha="left", fontweight="bold")


def _of_size(part: Part, size: str) -> list[Record]:
    return [record | {"subset": size} for record in part.run()]


def _side(records: Sequence[Record], size: str) -> list[Record]:
    return [record for record in records if record["subset"] == size]


def _named(method: str, size: str) -> str:
    return f"{method}, {size}"


def _side_by_side(records: Sequence[Record]) -> Table:
    """Table of the accuracies of both subset sizes at the same costs."""
    curves = {
        (method, size): curve
        for size, side in SIDES.items()
        for method, curve in side.mean_curves(_side(records, size)).items()
    }
    whole = {size: curves[UNPRUNED, size] for size in SIDES}
    most = max(float(curve.cost[0]) for curve in whole.values())
    rows: list[list[Cell]] = []
    for (method, size), curve in sorted(curves.items(), key=lambda item: item[0][0]):
        if method != UNPRUNED:
            found = [curve.at(share * most) for share in SHARES]
            rows.append([method, size, *(None if at is None else with_spread(*at) for at in found)])
    forests = "; ".join(
        f"{size}: accuracy {with_spread(float(curve.score[0]), None)} at cost {curve.cost[0]:.1f}"
        for size, curve in whole.items()
    )
    return Table(
        "Test accuracy at the same costs",
        ["method", "subset", *(f"at {share * most:.0f}" for share in SHARES)],
        rows,
        note=f"Unpruned forests: {forests}. The paper: the forest on small subsets is more accurate and "
        "costs more, its pruning is slightly better, and GreedyPrune fails on large subsets.",
    )


register(SubsetSize())
