"""`pairs`: pruning of trees grown by entropy against trees grown by Pairs (appendix)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from budgetprune.baselines import BudgetRF
from budgetprune.datasets import Dataset
from budgetprune_experiments import figures
from budgetprune_experiments.experiment import Experiment, Options, Part, Record, Table, register
from budgetprune_experiments.figure1a import Figure1a
from budgetprune_experiments.figure1b import Figure1b
from budgetprune_experiments.figures import LineStyle, draw_curves
from budgetprune_experiments.methods import LINE_STYLES, METHODS, OURS_PAPER, UNPRUNED
from budgetprune_experiments.task import Method, Point, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = (UNPRUNED, "CCP", "GreedyPrune", OURS_PAPER)


def _named(method: str) -> str:
    return f"{method}, Pairs"


def _on_pairs(curve: Callable[[Task], Iterator[Point]], task: Task) -> Iterator[Point]:
    """Apply a method to a forest of the same number of trees, fully grown by Pairs and the minimax rule."""
    other = task.shared("task on Pairs", partial(_with_pairs, task))
    other.deadline = task.deadline
    yield from curve(other)


def _with_pairs(task: Task) -> Task:
    base = task.base.get_params()
    forest = BudgetRF(
        base["n_estimators"],
        impurity="pairs",
        rule="minimax",
        costs=task.costs,
        max_features=base["max_features"],
        n_jobs=task.jobs,
        random_state=task.seed,
    )
    return replace(task, base=forest)


_ENTROPY = {name: METHODS[name] for name in NAMES}
_PAIRS = {_named(name): Method(_named(name), partial(_on_pairs, METHODS[name].curve)) for name in NAMES}
_LINE_STYLES = {name: LINE_STYLES[name] for name in NAMES} | {
    _named(name): replace(LINE_STYLES[name], marker="s", line="--", width=1.4) for name in NAMES
}
_LINE_STYLES[_named(UNPRUNED)] = LineStyle(figures.GREY, "*")


class _OnMiniboone(Figure1a):
    name = "pairs on MiniBooNE"
    title = "MiniBooNE"
    seconds = 60.0  # most of this time is used to grow a forest
    methods = _ENTROPY | _PAIRS
    method_names = tuple(methods)


class _OnCovertype(Figure1b):
    name = "pairs on Covertype"
    title = "Forest Covertype"
    seconds = 60.0
    methods = _ENTROPY | _PAIRS
    method_names = tuple(methods)


SIDES = (_OnMiniboone(), _OnCovertype())


class Pairs(Experiment):
    """Grow one forest by entropy, without costs, and one by Pairs; prune both in the same way."""

    name = "pairs"
    title = "Entropy trees against Pairs trees, pruned alike"
    figure_size = Figure1a.figure_size

    def substitute(self, options: Options) -> str | None:
        return "; ".join(said for side in SIDES if (said := side.substitute(options))) or None

    def datasets(self, options: Options) -> list[Dataset]:
        return [data for side in SIDES for data in side.datasets(options)]

    def settings(self, options: Options) -> Record:
        return {side.title: side.settings(options) for side in SIDES}

    def parts(self, options: Options) -> Iterable[Part]:
        for side in SIDES:
            for part in side.parts(options):
                yield Part(f"{side.title}, {part.key}", partial(_run, part, side.title))

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        tables = [table for side in SIDES for table in side.tables(_side(records, side.title), options)]
        grown_by = "Trees are grown by entropy where nothing else is said. "
        return [replace(table, note=grown_by + table.note) for table in tables]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        for axes, side in zip(figure.subplots(1, len(SIDES)), SIDES, strict=True):
            draw_curves(axes, _side(records, side.title), _LINE_STYLES)
            axes.set_title(side.title, loc="left", fontsize=10)
            axes.legend(frameon=False, fontsize=8.5)
        figure.suptitle(self.title, x=0.01, ha="left", fontweight="bold")


def _run(part: Part, title: str) -> list[Record]:
    return [record | {"data": title} for record in part.run()]


def _side(records: Sequence[Record], title: str) -> list[Record]:
    return [record for record in records if record["data"] == title]


register(Pairs())
