"""The main job on data that everyone has: prune a forest for breast cancer to a budget.

Run ``python -m budgetprune.demo --out output``.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from budgetprune._files import check_writable, written_atomically
from budgetprune._threads import let_idle_threads_sleep
from budgetprune.costs import FeatureCosts
from budgetprune.errors import BudgetPruneError, BudgetWarning
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.plots import Curve, Purchases, save_trade_off
from budgetprune.problem import PruningProblem

PICTURE = "trade_off.png"

# Each measurement of the cells' nuclei is given as a mean, a standard error and a worst value: whoever
# takes it has all three. The prices are made up: minutes of work, more where the outline must be exact.
MINUTES = {
    "radius": 1,
    "perimeter": 1,
    "area": 1,
    "texture": 2,
    "smoothness": 2,
    "compactness": 2,
    "concavity": 3,
    "concave points": 3,
    "symmetry": 3,
    "fractal dimension": 4,
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that no tree was grown on, to see what a path is like on them."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    name: str

    def curve(self, path: PruningPath, costs: FeatureCosts) -> Curve:
        """Count cost and wrong predictions of every point on these rows."""
        counted = PruningProblem(path.forest, self.X, costs=costs)
        return Curve(
            rows=self.name,
            cost=counted.trade_off(path.critical_lambda, path.lam)[1],
            error=np.array([self._wrong(pruning.forest) for pruning in path]),
            unpruned_cost=counted.cost_of(counted.unpruned),
            unpruned_error=self._wrong(path.forest),
        )

    def purchases(self, path: PruningPath, costs: FeatureCosts) -> Purchases:
        """Find what share of these rows buys each source, at every point."""
        counted = PruningProblem(path.forest, self.X, costs=costs)
        share = np.array([counted.acquired(pruning.keep).mean(axis=0) for pruning in path])
        return Purchases(counted.costs.source_names, counted.costs.price, share)

    def _wrong(self, forest: Forest) -> float:
        return float(np.mean(forest.predict(self.X) != self.y))


@dataclass(frozen=True, eq=False)
class Report:
    """What the demo found: a path, what it is like on both sets of rows, and the point that was chosen."""

    path: PruningPath
    budget: float
    chosen: int
    validation: Curve
    test: Curve
    purchases: Purchases
    n_rows: tuple[int, int, int]


def run(seed: int = 0, budget: float | None = None, n_trees: int = 60) -> Report:
    """Train a forest, compute its path, and choose a point without looking at the test rows.

    Parameters
    ----------
    seed : int
        For the split of the rows and for the forest.
    budget : float, optional
        Average cost that a prediction may have; None lets the validation rows choose.
    n_trees : int
    """
    data = load_breast_cancer()
    X, X_test, y, y_test = _set_aside(data, seed)
    X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    validation, test = Rows(X_val, y_val, "validation"), Rows(X_test, y_test, "test")

    costs = measurement_costs(data.feature_names)
    model = RandomForestClassifier(n_trees, random_state=seed).fit(X_train, y_train)
    path = PruningProblem(Forest.from_model(model), X_val, costs=costs).path()

    on_validation = validation.curve(path, costs)
    if budget is None:
        budget = float(path.cost[cheapest_good(on_validation.error, len(y_val))])
    return Report(
        path=path,
        budget=budget,
        chosen=int(np.searchsorted(path.lam, path.at(budget=budget).lam)),
        validation=on_validation,
        test=test.curve(path, costs),
        purchases=test.purchases(path, costs),
        n_rows=(len(y_train), len(y_val), len(y_test)),
    )


def _set_aside(data: Any, seed: int) -> Any:
    """Rows to make a model with, and rows to test it on."""
    return train_test_split(data.data, data.target, test_size=0.25, stratify=data.target, random_state=seed)


def measurement_costs(feature_names: Sequence[str]) -> FeatureCosts:
    """Let "mean radius", "radius error" and "worst radius" all need the measurement "radius"."""
    return FeatureCosts.from_sources(MINUTES, dict(enumerate(map(_measurement, feature_names))))


def _measurement(feature: str) -> str:
    return next(source for source in MINUTES if source in feature)


def write_tables(folder: Path, seed: int = 0) -> list[Path]:
    """Write the same rows, and their prices, as files that ``budgetprune fit`` takes; return their paths."""
    data = load_breast_cancer()
    X, X_test, y, y_test = _set_aside(data, seed)
    names = list(data.feature_names)
    tables: dict[str, Iterable[Sequence[Any]]] = {
        name: [
            [*names, "diagnosis"],
            *([*row, data.target_names[label]] for row, label in zip(rows, labels, strict=True)),
        ]
        for name, rows, labels in [("patients.csv", X, y), ("new_patients.csv", X_test, y_test)]
    }
    tables["costs.csv"] = [
        ["feature", "cost", "source"],
        *(["", price, source] for source, price in MINUTES.items()),
        *([name, 0, _measurement(name)] for name in names),
    ]
    for name, lines in tables.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        with written_atomically(folder / name) as file:
            file.write(text.getvalue().encode())
    return [folder / name for name in tables]


def cheapest_good(error: NDArray[np.float64], n_rows: int) -> int:
    """Choose the last point (the cheapest) whose error is within a standard error of the smallest."""
    least = error.min()
    return int(np.flatnonzero(error <= least + np.sqrt(least * (1 - least) / n_rows))[-1])


def summary(report: Report, by_rule: bool) -> str:
    """Say in a few lines what the table below it shows."""
    train, validation, test = report.n_rows
    chosen_by = "chosen on the validation rows (one-standard-error rule)" if by_rule else "as asked for"
    return (
        f"Breast cancer: {len(MINUTES)} measurements, priced in (made-up) minutes; "
        f"{report.path.forest.n_trees} trees.\n"
        f"Rows: {train} for training, {validation} for validation, {test} for the test, where one mistake is "
        f"{100 / test:.1f} points.\n"
        f"{len(report.path)} prunings are optimal at some lambda. Budget: {report.budget:.2f}, {chosen_by}.\n"
        "Full cost counts every measurement on a row's paths through all trees.\n"
    )


def table(report: Report, n_lines: int = 12) -> str:
    """Put the unpruned forest, some points along the path and the chosen one into an aligned table."""
    path, validation, test = report.path, report.validation, report.test
    # Points about evenly spread in cost, which is what a reader wants to choose from.
    wanted = np.linspace(path.cost[0], path.cost[-1], n_lines)
    shown = {int(np.argmin(np.abs(path.cost - cost))) for cost in wanted} | {report.chosen}
    lines = [
        "                         full cost per row         wrong predictions",
        "    lambda   splits    validation      test      validation      test",
        _line("unpruned", path.unpruned.n_splits, *_unpruned(validation), *_unpruned(test)),
    ]
    for k in sorted(shown):
        values = validation.cost[k], validation.error[k], test.cost[k], test.error[k]
        mark = "  <- chosen" if k == report.chosen else ""
        lines.append(_line(f"{path.lam[k]:.5f}", path.n_splits[k], *values) + mark)
    return "\n".join(lines)


def _unpruned(curve: Curve) -> tuple[float, float]:
    return curve.unpruned_cost, curve.unpruned_error


def _line(lam: str, splits: int, cost: float, error: float, test_cost: float, test_error: float) -> str:
    return (
        f"{lam:>10} {splits:8d} {cost:13.2f} {test_cost:9.2f} {100 * error:13.1f} % {100 * test_error:7.1f} %"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo from a terminal."""
    parser = argparse.ArgumentParser(prog="python -m budgetprune.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("output"), help="folder for files (%(default)s)")
    parser.add_argument(
        "--seed", type=_seed, default=0, help="of the rows' split and the forest (%(default)s)"
    )
    parser.add_argument("--budget", type=float, help="average cost of a prediction, in minutes")
    options = parser.parse_args(arguments)
    print(
        "Training, pruning and drawing (the first run compiles kernels, for a minute or two) ...\n",
        flush=True,
    )
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        check_writable(options.out / PICTURE)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BudgetWarning)
            report = run(options.seed, options.budget)
        patients, new_patients, costs = write_tables(options.out, options.seed)
        picture = options.out / PICTURE
        save_trade_off(
            picture,
            report.test,
            chosen=report.chosen,
            purchases=report.purchases,
            beside=report.validation,
            title="Breast cancer: what each budget buys",
            unit="minutes",
        )
    except (BudgetPruneError, ImportError, OSError) as error:
        parser.error(str(error))
    print(summary(report, by_rule=options.budget is None))
    print(table(report))
    for warning in caught:
        print(f"\nNote: {warning.message}")
    print(
        f"\nThe trade-off curve is in {picture}, the rows in {patients} and {new_patients}, the prices in "
        f"{costs}. To go on with them:\n\n    budgetprune fit {patients} --target diagnosis --costs {costs} "
        f"--budget 6 --test {new_patients} --out diagnosis.budgetprune"
    )
    return 0


def _seed(text: str) -> int:
    seed = int(text)
    if not 0 <= seed < 2**32:
        raise ValueError
    return seed


_seed.__name__ = "seed"  # argparse says "invalid seed value"


if __name__ == "__main__":
    let_idle_threads_sleep()
    sys.exit(main())
