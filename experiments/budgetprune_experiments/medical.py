"""`medical`: diagnoses with published test prices, in dollars per patient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from budgetprune.plotting.plots import INK, tidy
from budgetprune.selection import LabelledRows
from budgetprune_experiments.budget_results import (
    AS_GOOD,
    as_good_as,
    ours,
    results_within_budgets,
    whole_forest,
)
from budgetprune_experiments.experiment import Cell, Experiment, Options, Part, Record, Table, register
from budgetprune_experiments.figures import (
    BLACK,
    BLUE,
    DARK_RED,
    INDIGO,
    LIME,
    ORANGE_RED,
    STAGED_STYLE,
    LineStyle,
)
from budgetprune_experiments.forest_methods import limited_depth
from budgetprune_experiments.grids import QUICK, BoostingGrid, Grids
from budgetprune_experiments.methods import CASCADE, METHODS, STAGED, SUBSETS
from budgetprune_experiments.patients import BREAST, HEART, THYROID, Diagnosis
from budgetprune_experiments.tables import mean_with_spread
from budgetprune_experiments.task import Method, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOREST, DEPTH, REFITTED, DECIDED = "forest", "limited depth", "ours: refitted", "ours: decided early"
LINE_STYLES = {
    FOREST: LineStyle(BLACK, "*"),
    DEPTH: LineStyle(BLUE, "s"),
    SUBSETS: LineStyle(LIME, "v"),
    CASCADE: LineStyle(INDIGO, "P"),
    REFITTED: LineStyle(DARK_RED, "^", width=1.8),
    DECIDED: LineStyle(ORANGE_RED, "D", width=1.8),
    STAGED: STAGED_STYLE,
}
# Tuning time of a method in seconds, for all base forests of one split together.
SECONDS = 60.0
# A few hundred patients may be too few for large trees.
GRIDS = Grids(subsets=BoostingGrid((), (7, 31), (10, 20, 50, 100, 200)))
# Name, in the tables, of the base forest that is best on V.
CHOSEN = "V's choice"
# A source is left out of the table if each method acquires it for at most this share of the patients.
RARE = 0.005


class Medical(Experiment):
    """Costs of diagnoses: thyroid disease and heart disease.

    A blood draw is paid for once, for any number of tests, and so is an exercise ECG; the free T4 index
    needs two other tests. For each budget, each method uses the setting that is best on V among those within
    the budget on V; test rows are only used for the report. Competing methods are finally trained on T and
    V. Our pruned models use V to refit leaves. Staged models are trained on both, with cross-fitted choices.
    """

    name = "medical"
    title = "Diagnoses on a budget: thyroid and heart disease"
    figure_size = (12.0, 5.2)

    def __init__(self) -> None:
        self._known: tuple[Any, list[dict[str, Task]]] | None = None

    def substitute(self, options: Options) -> str | None:
        if options.quick:
            return "breast cancer, which comes with scikit-learn, with made-up prices"
        return None

    def settings(self, options: Options) -> Record:
        return {
            "n_trees": 6 if options.quick else 100,
            "bases": {diagnosis.name: diagnosis.bases for diagnosis in _diagnoses(options)},
            "seconds": None if options.paper else 0.0 if options.quick else SECONDS,
            "subsets": asdict(_grids(options).subsets),
            "budgets": {diagnosis.name: diagnosis.budgets for diagnosis in _diagnoses(options)},
        }

    def parts(self, options: Options) -> Iterable[Part]:
        for diagnosis in _diagnoses(options):
            for seed in range(options.repeats):
                for method in methods(diagnosis.budgets):
                    run = partial(self._run, diagnosis, seed, method, options)
                    yield Part(f"{diagnosis.name}, seed {seed}, {method.name}", run)

    def _run(self, diagnosis: Diagnosis, seed: int, method: Method, options: Options) -> list[Record]:
        folds = self._folds(diagnosis, seed, options)
        return results_within_budgets(
            method, folds, diagnosis, () if method.name == FOREST else diagnosis.budgets
        )

    def _folds(self, diagnosis: Diagnosis, seed: int, options: Options) -> list[dict[str, Task]]:
        """Tasks of one seed, cached until the next seed, so that methods share the forests."""
        key = diagnosis.name, seed, options
        if self._known is None or self._known[0] != key:
            self._known = key, self._tasks(diagnosis, seed, options)
        return self._known[1]

    def _tasks(self, diagnosis: Diagnosis, seed: int, options: Options) -> list[dict[str, Task]]:
        settings, patients = self.settings(options), diagnosis.load(options)
        seconds = settings["seconds"]

        def measure(model: Any, rows: LabelledRows) -> float:
            return diagnosis.score(rows.y, model.predict(rows.X))

        def task(split: Any, parameters: Mapping[str, Any]) -> Task:
            return Task(
                split=split,
                costs=patients.costs,
                base=RandomForestClassifier(
                    settings["n_trees"],
                    criterion="entropy",
                    random_state=seed,
                    n_jobs=options.jobs,
                    **parameters,
                ),
                measure=measure,
                scoring=diagnosis.scoring,
                grids=_grids(options),
                seconds=np.inf if seconds is None else seconds / len(diagnosis.bases),
                jobs=options.jobs,
            )

        return [
            {name: task(split, parameters) for name, parameters in diagnosis.bases.items()}
            for split in diagnosis.splits(patients, seed)
        ]

    # --- Results --------------------------------------------------------------------------------------------

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        tables = []
        for diagnosis in _diagnoses(options):
            some = [record for record in records if record["data"] == diagnosis.name]
            tables += [
                _compared(diagnosis, some),
                _budgets(diagnosis, some),
                _purchases(diagnosis, some, options),
            ]
        return tables

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        diagnoses = _diagnoses(options)
        for axes, diagnosis in zip(
            figure.subplots(1, len(diagnoses), squeeze=False)[0], diagnoses, strict=True
        ):
            _draw(axes, diagnosis, [record for record in records if record["data"] == diagnosis.name])
            axes.set_xlabel(f"{_cost_unit(options)} per patient", color=INK)
        figure.suptitle(self.title, x=0.01, ha="left", fontweight="bold")


def methods(budgets: Sequence[float]) -> tuple[Method, ...]:
    """Methods compared."""
    return (
        Method(FOREST, whole_forest),
        Method(DEPTH, limited_depth),
        METHODS[SUBSETS],
        METHODS[CASCADE],
        Method(REFITTED, partial(ours, budgets=budgets)),
        Method(DECIDED, partial(ours, budgets=budgets, counting="decided")),
        METHODS[STAGED],
    )


def _diagnoses(options: Options) -> tuple[Diagnosis, ...]:
    return (BREAST,) if options.quick else (THYROID, HEART)


def _grids(options: Options) -> Grids:
    return QUICK if options.quick else GRIDS


def _cost_unit(options: Options) -> str:
    return "minutes" if options.quick else "dollars"


def _chosen(records: Sequence[Record], method: str, setting: str) -> list[Record]:
    return [r for r in records if (r["method"], r["setting"]) == (method, setting)]


def _compared(diagnosis: Diagnosis, records: Sequence[Record]) -> Table:
    rows: list[list[Cell]] = []
    # With a single base forest, there is no choice.
    bases = {CHOSEN: AS_GOOD} | {
        base: as_good_as(base) for base in diagnosis.bases if len(diagnosis.bases) > 1
    }
    for base, setting in bases.items():
        whole = np.mean([record["test_cost"] for record in _chosen(records, FOREST, setting)])
        for name in LINE_STYLES:
            some = _chosen(records, name, setting)
            cost, score = ([record[key] for record in some] for key in ("test_cost", "test_score"))
            rows.append(
                [
                    base,
                    name,
                    mean_with_spread(cost, 2),
                    f"{np.mean(cost) / whole:.0%}",
                    mean_with_spread(score, 4),
                ]
            )
    seconds = ", ".join(
        f"{name} {np.mean([record['seconds_tuning'] for record in records if record['method'] == name]):.0f}"
        for name in LINE_STYLES
    )
    n_seeds = len({record["seed"] for record in records})
    return Table(
        f"{diagnosis.name}: the cheapest that validation patients find as good as the forest",
        ["base forest", "method", "cost per patient", "of the forest's", diagnosis.score_name],
        rows,
        note=f"{records[0]['n_test']:,} test patients{', in folds' if diagnosis.n_folds else ''}; mean ± "
        f"standard deviation over {n_seeds} seed(s). Full costs, but decided ones where predictions stop "
        f"early. Seconds to tune: {seconds}.",
        highlight=frozenset(range(len(LINE_STYLES))),
    )


def _budgets(diagnosis: Diagnosis, records: Sequence[Record]) -> Table:
    rows: list[list[Cell]] = []
    for budget in diagnosis.budgets:
        row: list[Cell] = [f"{budget:g}"]
        for name in LINE_STYLES:
            some = _chosen(records, name, f"budget {budget:g}")
            if name != FOREST:
                row += [
                    mean_with_spread([record["test_cost"] for record in some], 2) if some else None,
                    mean_with_spread([record["test_score"] for record in some], 4) if some else None,
                ]
        rows.append(row)
    return Table(
        f"{diagnosis.name}: cost per patient and {diagnosis.score_name} within a budget",
        [
            "budget",
            *(column for name in LINE_STYLES if name != FOREST for column in (f"{name}: cost", "score")),
        ],
        rows,
        note="Budgets are kept on validation patients; empty where no setting is within the budget.",
    )


def _purchases(diagnosis: Diagnosis, records: Sequence[Record], options: Options) -> Table:
    patients = diagnosis.load(options)
    prices = patients.costs.resolve(patients.X.shape[1])
    rows: list[list[Cell]] = []
    for name, price in zip(prices.source_names, prices.price, strict=True):
        shares = [
            float(np.mean([record["bought"][name] for record in _chosen(records, method, AS_GOOD)]))
            for method in LINE_STYLES
        ]
        if max(shares) > RARE:
            rows.append([name, f"{price:.2f}", *(f"{100 * share:.1f}" for share in shares)])
    return Table(
        f"{diagnosis.name}: share of test patients (%) for whom each test is bought",
        ["test", "price", *LINE_STYLES],
        rows,
        note="At the settings of the first table.",
    )


def _draw(axes: Axes, diagnosis: Diagnosis, records: Sequence[Record]) -> None:
    for name, style in LINE_STYLES.items():
        settings = [AS_GOOD] if name == FOREST else [f"budget {budget:g}" for budget in diagnosis.budgets]
        found = [some for setting in settings if (some := _chosen(records, name, setting))]
        cost = [np.mean([record["test_cost"] for record in some]) for some in found]
        score = [[record["test_score"] for record in some] for some in found]
        axes.errorbar(
            cost,
            [np.mean(values) for values in score],
            yerr=[np.std(values, ddof=1) if len(values) > 1 else 0.0 for values in score],
            label=name,
            color=style.colour,
            marker=style.marker,
            linestyle="none" if name == FOREST else style.line,
            linewidth=style.width,
            markersize=11 if name == FOREST else 5,
            elinewidth=0.9,
            capsize=2,
        )
    axes.set_title(diagnosis.name, loc="left", fontsize=10)
    axes.set_ylabel(f"test {diagnosis.score_name}", color=INK)
    axes.set_xlim(left=0)
    axes.grid(color="#e9ecef", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    tidy(axes)


register(Medical())
