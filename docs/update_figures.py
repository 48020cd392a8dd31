"""Draw the figures of docs/staged.md: ``python docs/update_figures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from budgetprune import BudgetClassifier, FeatureCosts
from budgetprune.plotting import StagesDisplay, TradeoffDisplay

FOLDER = Path(__file__).parent / "staged"


def main() -> None:
    """Fit a model on the breast cancer data, and draw its curve, its stages, and the uncertainty of rows."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    # A measurement gives a mean, an error and a worst value.
    needs = {name: name.removeprefix("mean ").removeprefix("worst ").removesuffix(" error") for name in X}
    costs = FeatureCosts.from_sources(dict.fromkeys(needs.values(), 1.0), needs)
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    model = BudgetClassifier(costs, budget=2.0, random_state=0).fit(X_train, y_train)
    FOLDER.mkdir(exist_ok=True)
    for display, name in ((TradeoffDisplay, "curve"), (StagesDisplay, "stages")):
        figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
        display.from_estimator(model, ax=ax)
        figure.savefig(FOLDER / f"{name}.png", dpi=110)
    draw_thresholds(model, X_test)


def draw_thresholds(model: BudgetClassifier, X_test: object) -> None:
    """Draw the uncertainty of test rows at the stages that they reach, and the thresholds."""
    staged = model.model_
    rows, scores = model._columns.read(X_test), None
    going = np.arange(len(rows))
    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    random = np.random.default_rng(0)
    for k in range(staged.n_reachable):
        scores = staged.chain.advance(k, rows, scores)
        uncertainty = staged.objective.uncertainty(staged.chain.outputs(k, rows, scores))[going]
        goes_on = uncertainty > staged.thresholds[k]
        x = k + random.uniform(-0.3, 0.3, going.size)
        ax.scatter(x[goes_on], uncertainty[goes_on], s=9, color="C1", label="goes on" if k == 0 else None)
        ax.scatter(x[~goes_on], uncertainty[~goes_on], s=9, color="C0", label="stops" if k == 1 else None)
        if np.isfinite(staged.thresholds[k]):
            ax.hlines(staged.thresholds[k], k - 0.4, k + 0.4, color="black", linewidth=1.5)
        going = going[goes_on]
    ax.set(xlabel="stage", ylabel="uncertainty: expected share of wrong answers")
    ax.set_xticks(range(staged.n_reachable))
    ax.legend(loc="lower right")
    figure.savefig(FOLDER / "thresholds.png", dpi=110)


if __name__ == "__main__":
    main()
