"""Base class of experiments that compare all methods on one data set."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from budgetprune.costs import FeatureCosts
from budgetprune.selection import LabelledRows
from budgetprune_experiments.experiment import Cell, Experiment, Options, Part, Record, Table
from budgetprune_experiments.figures import LineStyle, draw_curves, score_limits
from budgetprune_experiments.grids import QUICK, Grids
from budgetprune_experiments.methods import BEYOND, LINE_STYLES, METHODS, PAPER, UNPRUNED
from budgetprune_experiments.miniboone import entropy_forest
from budgetprune_experiments.records import MeanCurve, by_method, least_cost_for, mean_curve
from budgetprune_experiments.split import Split
from budgetprune_experiments.tables import with_spread
from budgetprune_experiments.task import Method, Task, evaluate_method

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Largest difference of error at which a forest counts as equally good.
SAME = 0.005


class Comparison(Experiment):
    """Compare methods on the same splits, each with the same time to tune.

    A subclass names its data (`split`), and may have its own prices, forest, grids and methods.
    """

    figure_size = (12.0, 5.6)
    seconds: ClassVar[float] = 40.0
    # Costs at which the table shows scores; None: spread over the range of the curves.
    costs_shown: ClassVar[tuple[float, ...] | None] = None
    cost_name: ClassVar[str] = "average feature cost"
    # Whether costs are compared on a logarithmic scale.
    by_ratio: ClassVar[bool] = False
    # An error bar is drawn at every n-th point.
    error_every: ClassVar[int] = 1
    # Name of the score; None: scores are accuracies, and errors are shown.
    score_name: ClassVar[str | None] = None
    methods: ClassVar[Mapping[str, Method]] = METHODS
    method_names: ClassVar[tuple[str, ...]] = tuple(METHODS)
    line_styles: ClassVar[Mapping[str, LineStyle]] = LINE_STYLES
    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "the paper's methods": PAPER,
        "beyond the paper": BEYOND,
    }

    # --- Overridden by subclasses ---------------------------------------------------------------------------

    @abstractmethod
    def split(self, seed: int, options: Options) -> Split:
        """Split the rows of one repetition; with `options.quick`, a few hundred that need no file."""

    def costs(self, split: Split) -> FeatureCosts:
        """Return the feature costs; labels of T and V may be used."""
        return FeatureCosts()

    def forest(self, options: Options) -> Any:
        """Return the forest to be pruned, not fitted; its `random_state` is set for each seed."""
        return entropy_forest(options)

    def grids(self, options: Options) -> Grids:
        """Return the tuning grids."""
        return QUICK if options.quick else Grids()

    def measure(self, model: Any, rows: LabelledRows) -> float:
        """Score a model: accuracy."""
        return float(np.mean(model.predict(rows.X) == rows.y))

    # --- Parts of the experiment ----------------------------------------------------------------------------

    def settings(self, options: Options) -> Record:
        forest = self.forest(options)
        return {
            "seconds": None if options.paper else self._seconds(options),
            "forest": {name: value for name, value in forest.get_params().items() if name != "n_jobs"},
            "grids": asdict(self.grids(options)),
        }

    def parts(self, options: Options) -> Iterable[Part]:
        for seed in range(options.repeats):
            for name in self.method_names:
                yield Part(f"seed {seed}, {name}", partial(self._run, name, seed, options))

    def _seconds(self, options: Options) -> float:
        if options.quick:
            return 0.0  # only the ends of each grid
        return float("inf") if options.paper else self.seconds

    def _run(self, name: str, seed: int, options: Options) -> list[Record]:
        return evaluate_method(self.methods[name], self._task(seed, options))

    def _task(self, seed: int, options: Options) -> Task:
        """Task of a seed, cached until the next seed, so that its methods share results."""
        known: tuple[Any, Task] | None = self.__dict__.get("_known")
        if known is None or known[0] != (seed, options):
            split = self.split(seed, options)
            task = Task(
                split=split,
                costs=self.costs(split),
                base=self.forest(options).set_params(random_state=seed),
                measure=self.measure,
                scoring=self.scoring,
                grids=self.grids(options),
                seconds=self._seconds(options),
                jobs=options.jobs,
            )
            known = self.__dict__["_known"] = (seed, options), task
        return known[1]

    scoring: ClassVar[Any] = None

    # --- Results --------------------------------------------------------------------------------------------

    def mean_curves(self, records: Sequence[Record]) -> dict[str, MeanCurve]:
        """Average each method's curves over the seeds, on a fine grid of costs."""
        grouped = by_method(records)
        return {name: mean_curve(some, 400, by_ratio=self.by_ratio) for name, some in grouped.items()}

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        curves = self.mean_curves(records)
        shown = self.costs_shown or _spread_costs(list(curves.values()))
        whole = curves.get(UNPRUNED)
        enough = None if whole is None else float(whole.score[0]) - SAME
        rows: list[list[Cell]] = []
        for name, curve in curves.items():
            some = [record for record in records if record["method"] == name]
            seconds = [record["seconds_tuning"] for record in some]
            found = None if enough is None else least_cost_for(curve, enough)
            rows.append(
                [
                    name,
                    *(self._shown(curve.at(cost)) for cost in shown),
                    *self._best(curve),
                    None if found is None else f"{found:.1f}",
                    f"{np.mean(seconds):.0f}",
                ]
            )
        score = self.score_name or "error"
        columns = [
            "method",
            *(f"{score} at {cost:g}" for cost in shown),
            f"best {score}",
            "its cost",
            "cost near forest",
            "s to tune",
        ]
        sizes = {(each["n_train"], each["n_validation"], each["n_test"]) for each in records}
        rows_of = "; ".join(" / ".join(f"{n:,}" for n in size) for size in sorted(sizes)[:1])
        seeds = len({record["seed"] for record in records})
        return [
            Table(
                f"{self.title}: {self.score_name or 'test error (%)'} at average cost per example",
                columns,
                rows,
                note=f"{rows_of} rows for training, validation and the test; mean ± standard deviation over "
                f"{seeds} seed(s). Costs are full costs, but decided ones where predictions stop early. "
                "Beyond the end of a curve, its last model counts. Cost near forest: where a curve comes "
                f"within {SAME:g} of the unpruned forest's score.",
            )
        ]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        row = figure.subplots(1, len(self.panels), sharey=True, sharex=True)
        shown = {name for names in self.panels.values() for name in names}
        curves = [curve for name, curve in self.mean_curves(records).items() if name in shown]
        for axes, (title, names) in zip(row, self.panels.items(), strict=True):
            draw_curves(
                axes,
                records,
                {name: self.line_styles[name] for name in names},
                score_name=self.score_name,
                cost_name=self.cost_name,
                by_ratio=self.by_ratio,
                limits=score_limits(curves, as_error=self.score_name is None),
                error_every=self.error_every,
            )
            axes.set_title(title, loc="left", fontsize=10)
            axes.label_outer()
            axes.legend(frameon=False, fontsize=8.5)
        figure.suptitle(self.title, x=0.01, ha="left", fontweight="bold")

    def _shown(self, at: tuple[float, float | None] | None) -> str | None:
        if at is None:
            return None
        score, spread = at
        if self.score_name is not None:
            return with_spread(score, spread, 3)
        return with_spread(100 * (1 - score), None if spread is None else 100 * spread, 2)

    def _best(self, curve: MeanCurve) -> tuple[str | None, str]:
        k = int(curve.score.argmax())
        spread = None if curve.score_spread is None else float(curve.score_spread[k])
        return self._shown((float(curve.score[k]), spread)), f"{curve.cost[k]:.1f}"


def _spread_costs(curves: Sequence[MeanCurve]) -> list[float]:
    """Choose four costs, rounded to two digits, up to the largest cost of any curve."""
    most = max(float(curve.cost[-1]) for curve in curves)
    return [float(f"{share * most:.2g}") for share in (0.1, 0.2, 0.4, 0.7)]
