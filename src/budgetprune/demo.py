"""Demo: the best model for a diagnosis within a budget, on a data set of scikit-learn.

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

from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.errors import BudgetPruneError, BudgetWarning
from budgetprune.estimators import BudgetPruneClassifier
from budgetprune.forest import Forest
from budgetprune.plotting import NamedCurve, Purchases, save_trade_off
from budgetprune.problem import sources_used
from budgetprune.staged import BudgetClassifier
from budgetprune.utils.files import check_writable, written_atomically
from budgetprune.utils.threads import let_idle_threads_sleep

PICTURE = "trade_off.png"
# Budgets of the table, and the default budget: average minutes of a prediction.
BUDGETS = (1.2, 1.5, 2.0, 3.0, 6.0, 12.0)
BUDGET = 3.0

# Each measurement of the cells' nuclei has a mean, a standard error and a worst value, which share one price.
# The prices are made up: minutes of work, more for measurements that need an exact outline.
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


@dataclass(frozen=True)
class Measured:
    """Average cost of a row, and share of wrong predictions, on the test rows."""

    cost: float
    error: float


@dataclass(frozen=True)
class Line:
    """Measurements at one budget."""

    budget: float
    staged: Measured
    pruned: Measured


@dataclass(frozen=True, eq=False)
class Report:
    """Results of the demo on the test rows.

    Attributes
    ----------
    staged : BudgetClassifier
        Staged model at the chosen budget.
    full : Measured
        Full forest.
    lines : tuple of Line
        Several budgets, in increasing order.
    budget : float
        Chosen budget.
    curve, pruned_curve : NamedCurve
        All points of the staged model, and of the pruned forest.
    purchases : Purchases
        Sources acquired at each point of `curve`.
    chosen : int
        Point of `curve` at the chosen budget.
    n_rows : tuple of int
        Number of training rows and of test rows.
    """

    staged: BudgetClassifier
    full: Measured
    lines: tuple[Line, ...]
    budget: float
    curve: NamedCurve
    pruned_curve: NamedCurve
    purchases: Purchases
    chosen: int
    n_rows: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Models:
    """Trained models and test rows."""

    staged: BudgetClassifier
    pruned: BudgetPruneClassifier
    full: Forest
    costs: CostTable
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    n_train: int

    def measure(self, model: BudgetClassifier | BudgetPruneClassifier) -> Measured:
        """Measure a model on the test rows."""
        cost = float(model.acquisition_cost(self.X_test).mean())
        return Measured(cost, float(np.mean(model.predict(self.X_test) != self.y_test)))

    def measure_full(self) -> Measured:
        """Measure the full forest; a row pays for every measurement on its paths through all trees."""
        used = sources_used(self.full, self.costs, self.X_test)
        wrong = self.full.predict(self.X_test) != self.y_test
        return Measured(float(self.costs.total(used).mean()), float(np.mean(wrong)))

    def pruned_within(self, budget: float) -> BudgetPruneClassifier:
        """Prune the forest for a budget."""
        with warnings.catch_warnings():  # the table shows costs below the budget
            warnings.simplefilter("ignore", BudgetWarning)
            return self.pruned.with_budget(budget)


def train(seed: int = 0, n_trees: int = 60) -> Models:
    """Train a staged model and a forest, and prune the forest.

    Parameters
    ----------
    seed : int
        Random seed of the train-test split and of the models.
    n_trees : int
        Number of trees of the forest.
    """
    data = load_breast_cancer()
    X, X_test, y, y_test = _split(data, seed)
    costs = measurement_costs(data.feature_names)
    forest = RandomForestClassifier(n_trees, random_state=seed)
    return Models(
        staged=BudgetClassifier(costs, random_state=seed, n_jobs=1).fit(X, y),
        pruned=BudgetPruneClassifier(forest, costs=costs, random_state=seed).fit(X, y),
        full=Forest.from_model(forest.fit(X, y)),
        costs=costs.resolve(X.shape[1]),
        X_test=X_test,
        y_test=y_test,
        n_train=len(y),
    )


def measure(models: Models, budget: float = BUDGET) -> Report:
    """Measure all models on the test rows.

    Parameters
    ----------
    models : Models
    budget : float
        Largest average cost of a prediction.
    """
    staged = models.staged.with_budget(budget)
    along = [staged.with_budget(cost) for cost in staged.tradeoff_.cost.tolist()]
    pruned = [models.pruned_within(cost) for cost in models.pruned.tradeoff_.cost.tolist()]
    return Report(
        staged=staged,
        full=models.measure_full(),
        lines=tuple(
            Line(
                each,
                models.measure(staged.with_budget(each)),
                models.measure(models.pruned_within(each)),
            )
            for each in sorted({*BUDGETS, budget})
        ),
        budget=budget,
        curve=_curve("staged model", map(models.measure, along)),
        pruned_curve=_curve("pruned forest", map(models.measure, pruned)),
        purchases=Purchases(
            models.costs.source_names,
            models.costs.price,
            np.array([each.predictor().simulate(models.X_test).acquired.mean(axis=0) for each in along]),
        ),
        chosen=staged.model_.point,
        n_rows=(models.n_train, len(models.y_test)),
    )


def _curve(name: str, points: Iterable[Measured]) -> NamedCurve:
    found = list(points)
    return NamedCurve(name, np.array([each.cost for each in found]), np.array([each.error for each in found]))


def _split(data: Any, seed: int) -> Any:
    """Split the data into training and test rows."""
    return train_test_split(data.data, data.target, test_size=0.25, stratify=data.target, random_state=seed)


def measurement_costs(feature_names: Sequence[str]) -> FeatureCosts:
    """Return costs in which "mean radius", "radius error" and "worst radius" need the source "radius"."""
    return FeatureCosts.from_sources(MINUTES, dict(enumerate(map(_measurement, feature_names))))


def _measurement(feature: str) -> str:
    return next(source for source in MINUTES if source in feature)


def write_tables(folder: Path, seed: int = 0) -> list[Path]:
    """Write the rows and prices as CSV files for ``budgetprune fit``; return their paths."""
    data = load_breast_cancer()
    X, X_test, y, y_test = _split(data, seed)
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


def summary(report: Report) -> str:
    """Return an introduction to the table."""
    train, test = report.n_rows
    return (
        f"Breast cancer: {len(MINUTES)} measurements, priced in (made-up) minutes.\n"
        f"Rows: {train} for training, {test} for the test, where one mistake is {100 / test:.1f} points.\n"
        f"One staged model serves every budget: it has {len(report.staged.tradeoff_)} points, from buying "
        f"nothing to {report.staged.tradeoff_.cost[-1]:.1f} minutes.\n"
        "Cost is what a row pays on average: up to the stage where it stops, or for every measurement on its "
        "paths\nthrough all trees.\n"
    )


def table(report: Report) -> str:
    """Return an aligned table of cost and error at several budgets, and of the full forest."""
    lines = [
        "                  staged model           pruned forest",
        "      budget      cost    wrong          cost    wrong",
    ]
    for line in report.lines:
        mark = "  <- chosen" if line.budget == report.budget else ""
        lines.append(f"{line.budget:12.4g}{_cells(line.staged)}     {_cells(line.pruned)}{mark}")
    return "\n".join([*lines, f" full forest{'':24}{_cells(report.full)}"])


def _cells(measured: Measured) -> str:
    return f"{measured.cost:10.2f} {100 * measured.error:6.1f} %"


def note(report: Report) -> str | None:
    """Return a note if the budget is too small for any measurement."""
    useful = report.staged.tradeoff_.cost[report.staged.tradeoff_.cost > 0]
    if report.staged.tradeoff_.cost[report.chosen] > 0 or not useful.size:
        return None
    return (
        f"Note: within {report.budget:g} minutes, the model predicts the same for all rows; the cheapest "
        f"point with any measurement costs {useful[0]:.2f}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo from a terminal."""
    parser = argparse.ArgumentParser(prog="python -m budgetprune.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("output"), help="folder for files (%(default)s)")
    parser.add_argument("--seed", type=_seed, default=0, help="random seed (%(default)s)")
    parser.add_argument(
        "--budget",
        type=_budget,
        default=BUDGET,
        help="average cost of a prediction, in minutes (%(default)s)",
    )
    options = parser.parse_args(arguments)
    print("Training, pruning and drawing (training takes longer without LightGBM) ...\n", flush=True)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        check_writable(options.out / PICTURE)
        report = measure(train(options.seed), options.budget)
        patients, new_patients, costs = write_tables(options.out, options.seed)
        picture = options.out / PICTURE
        save_trade_off(
            picture,
            report.curve,
            chosen=report.chosen,
            purchases=report.purchases,
            beside=report.pruned_curve,
            full=("full forest", report.full.cost, report.full.error),
            title="Breast cancer: what each budget buys",
            unit="minutes",
        )
    except (BudgetPruneError, ImportError, OSError) as error:
        parser.error(str(error))
    print(summary(report))
    print(table(report))
    if (message := note(report)) is not None:
        print(f"\n{message}")
    print(
        f"\nThe trade-off curve is in {picture}, the rows in {patients} and {new_patients}, the prices in "
        f"{costs}. To go on with them:\n\n    budgetprune fit {patients} --target diagnosis --costs {costs} "
        f"--budget 3 --test {new_patients} --out diagnosis.budgetprune"
    )
    return 0


def _seed(text: str) -> int:
    seed = int(text)
    if not 0 <= seed < 2**32:
        raise ValueError
    return seed


def _budget(text: str) -> float:
    budget = float(text)
    if not 0 <= budget < np.inf:
        raise ValueError
    return budget


# Names of the types in messages of argparse: "invalid seed value".
_seed.__name__, _budget.__name__ = "seed", "budget"


if __name__ == "__main__":
    let_idle_threads_sleep()
    sys.exit(main())
