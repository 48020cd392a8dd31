"""`solvers`: time and certified gap of each solver as trees and rows grow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune.forest import Forest
from budgetprune.plotting.plots import tidy
from budgetprune.problem import PruningProblem
from budgetprune_experiments.experiment import Cell, Options, Part, Record, Table, register
from budgetprune_experiments.figures import BLUE, GREEN, PAPER_RED, VIOLET
from budgetprune_experiments.miniboone import OnMiniboone, load_rows
from budgetprune_experiments.solver_trials import (
    GAP,
    LP,
    ORTOOLS,
    PARAMETRIC,
    PATH,
    PRIMAL_DUAL,
    SOLVERS,
    try_solver,
)
from budgetprune_experiments.split import shuffle_split

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_STYLES: dict[str, dict[str, Any]] = {
    LP: {"color": VIOLET, "marker": "s"},
    PRIMAL_DUAL: {"color": GREEN, "marker": "^"},
    ORTOOLS: {"color": BLUE, "marker": "D"},
    PARAMETRIC: {"color": PAPER_RED, "marker": "o"},
    PATH: {"color": PAPER_RED, "marker": "o", "linestyle": "--", "markerfacecolor": "white"},
}


class Size(NamedTuple):
    """Trees of the forest, and rows whose costs are counted."""

    n_trees: int
    n_rows: int

    def __str__(self) -> str:
        return f"{self.n_trees} trees, {self.n_rows:,} rows"


class Solvers(OnMiniboone):
    """Section 4: the primal-dual algorithm takes minutes where a general-purpose LP solver takes hours.

    All solvers use one lambda, at which the pruned forest has half of the unpruned cost. `lp` is the linear
    relaxation of the paper's program, with SciPy's HiGHS (the paper: Gurobi); `primal-dual` is the paper's
    Algorithm 1, to a gap of 1 %; OR-tools and `parametric` find the same minimum cut. The whole path has the
    best prunings for all lambdas.
    """

    name = "solvers"
    title = "Time of the solvers as forests and data grow"
    figure_size = (10.0, 5.0)

    def substitute(self, options: Options) -> str | None:
        if options.quick:
            return None
        return "a class-balanced subset of MiniBooNE; SciPy's HiGHS for Gurobi, our own kernels for CPLEX."

    def settings(self, options: Options) -> Record:
        if options.quick:
            return {"trees": [2, 4], "at_rows": 60, "rows": [60, 120], "at_trees": 4, "lp_seconds": 5.0}
        return {
            "trees": [5, 10, 20, 40, 80, 160],
            "at_rows": 500,
            "rows": [125, 250, 500, 1_000, 2_000, 4_000, 8_000],
            "at_trees": 40,
            # Time limit in seconds. The growth of the time is visible much earlier; the paper reports hours.
            "lp_seconds": 3600.0 if options.paper else 60.0,
        }

    def sizes(self, options: Options) -> list[Size]:
        """All sizes, small problems first."""
        settings = self.settings(options)
        more_trees = [Size(n, settings["at_rows"]) for n in settings["trees"]]
        more_rows = [Size(settings["at_trees"], n) for n in settings["rows"]]
        return sorted({*more_trees, *more_rows}, key=lambda size: (size.n_trees * size.n_rows, size.n_rows))

    def parts(self, options: Options) -> Iterable[Part]:
        for seed in range(1 if options.quick else options.repeats):
            # Once the linear program was too slow, larger sizes are skipped.
            too_slow: list[Size] = []
            for size in self.sizes(options):
                yield Part(f"seed {seed}, {size}", partial(self._run, seed, size, too_slow, options))

    def _run(self, seed: int, size: Size, too_slow: list[Size], options: Options) -> list[Record]:
        limit = self.settings(options)["lp_seconds"]
        problem = make_problem(seed, size, options)
        path = problem.path()
        lam = float(path.lam[int(np.argmin(np.abs(path.cost - path.unpruned.cost / 2)))])
        records = []
        for solver in SOLVERS:
            if solver == LP and any(size.n_trees >= s.n_trees and size.n_rows >= s.n_rows for s in too_slow):
                found: Record = {"seconds": None, "gap": None, "note": f"more than {limit:g} s when smaller"}
            else:
                found = try_solver(solver, problem, lam, limit)
            if solver == LP and found["seconds"] is None:
                too_slow.append(size)
            records.append(
                {"seed": seed, "solver": solver, **size._asdict(), "n_incidences": problem.n_incidences}
                | {"n_splits": problem.forest.n_splits, "lam": lam, **found}
            )
        return records

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        settings = self.settings(options)
        return [
            Table(
                "Seconds for one lambda (mean over seeds), and the greatest certified gap",
                ["trees", "rows", "incidences", *SOLVERS],
                [_row(size, records) for size in self.sizes(options)],
                note=f"{PRIMAL_DUAL} stops at a gap of {GAP:.0%}, the others are exact. OR-tools is given "
                "the graph that parametric builds, and the time for that is not counted.",
            ),
            Table(
                "How time grows: the exponent p of a power law, seconds in proportion to size^p",
                ["solver", "as trees grow", "as rows grow"],
                [
                    [
                        solver,
                        _exponent(_of(records, solver, n_rows=settings["at_rows"]), "n_trees"),
                        _exponent(_of(records, solver, n_trees=settings["at_trees"]), "n_rows"),
                    ]
                    for solver in SOLVERS
                ],
                note="Fitted to sizes at which a solver takes at least 10 ms.",
            ),
        ]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        settings = self.settings(options)
        left, right = figure.subplots(1, 2, sharey=True)
        rows, trees = settings["at_rows"], settings["at_trees"]
        _draw(left, {solver: _of(records, solver, n_rows=rows) for solver in SOLVERS}, "n_trees")
        _draw(right, {solver: _of(records, solver, n_trees=trees) for solver in SOLVERS}, "n_rows")
        left.set(xlabel=f"trees ({rows:,} rows)", ylabel="seconds")
        right.set(xlabel=f"rows that count costs ({trees} trees)")
        left.legend(frameon=False)
        figure.suptitle(self.title, x=0.01, ha="left", fontweight="bold")


def make_problem(seed: int, size: Size, options: Options) -> PruningProblem:
    """Grow a forest on 7/3 times the number of cost rows, about as in the paper."""
    n_train = size.n_rows * 7 // 3
    if options.quick:
        X, y = make_classification(2 * (n_train + size.n_rows), 10, n_informative=5, random_state=seed)
        X = X.astype(np.float32)
    else:
        data = load_rows(options)
        X, y = data.X, data.y
    split = shuffle_split(X, y, seed, n_train=n_train, n_val=size.n_rows)
    model = RandomForestClassifier(
        size.n_trees, criterion="entropy", max_features=None, random_state=seed, n_jobs=options.jobs
    )
    model.fit(split.train.X, split.train.y)
    return PruningProblem(Forest.from_model(model), split.val.X)


def _of(records: Sequence[Record], solver: str, **fixed: int) -> list[Record]:
    """Records of a solver at some sizes, where it found a solution."""
    return [
        record
        for record in records
        if record["solver"] == solver
        and record["seconds"] is not None
        and all(record[key] == value for key, value in fixed.items())
    ]


def _row(size: Size, records: Sequence[Record]) -> list[Cell]:
    here = [r for r in records if (r["n_trees"], r["n_rows"]) == size]
    cells: list[Cell] = [*size, int(np.mean([record["n_incidences"] for record in here]))]
    for solver in SOLVERS:
        mine = [record for record in here if record["solver"] == solver]
        times = [record["seconds"] for record in mine if record["seconds"] is not None]
        if len(times) < len(mine):
            cells.append(next(record["note"] for record in mine if record["seconds"] is None))
            continue
        gap = max(record["gap"] for record in mine)
        # Rounding may put the bound a little above the objective.
        cells.append(f"{np.mean(times):.3g} (gap {max(gap, 0):.1g})")
    return cells


def _exponent(records: Sequence[Record], key: str) -> float | None:
    """Slope of a straight line through logarithms of times and sizes."""
    seen = [(record[key], record["seconds"]) for record in records if record["seconds"] >= 0.01]
    if len({size for size, _ in seen}) < 2:
        return None
    size, seconds = np.log(np.array(seen)).T
    return float(np.polynomial.Polynomial.fit(size, seconds, 1).convert().coef[1])


def _draw(axes: Axes, by_solver: dict[str, list[Record]], key: str) -> None:
    for solver, records in by_solver.items():
        sizes = sorted({record[key] for record in records})
        if not sizes:
            continue
        times = [[record["seconds"] for record in records if record[key] == size] for size in sizes]
        mean = np.array([np.mean(some) for some in times])
        ends = np.array([(min(some), max(some)) for some in times]).T
        axes.errorbar(sizes, mean, np.abs(ends - mean), label=solver, capsize=3, **LINE_STYLES[solver])
    axes.set(xscale="log", yscale="log")
    sizes = sorted({record[key] for records in by_solver.values() for record in records})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8)
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axes.grid(color="#e9ecef", linewidth=0.8)
    tidy(axes)


register(Solvers())
