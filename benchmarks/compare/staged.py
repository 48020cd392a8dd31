"""Staged models and competing methods that train their own models, each over its whole curve."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.compare.methods import Entry, Method
from benchmarks.measure import seconds
from budgetprune import BudgetClassifier
from budgetprune.baselines import Cascade, FeatureSubsets
from budgetprune.staged.training import LAST_STAGE_FACTOR
from budgetprune_experiments.split import Split

# Number of points of a curve that are evaluated on test rows.
N_POINTS = 40


def staged_methods() -> dict[str, Method]:
    """Methods that train on T and V; competing methods use the settings chosen for the staged model."""
    fitted: dict[int, tuple[BudgetClassifier, float]] = {}

    def fit(split: Split) -> tuple[BudgetClassifier, float]:
        if split.seed not in fitted:
            fitted.clear()
            rows = split.train_and_val
            model = BudgetClassifier(random_state=split.seed, n_jobs=2)
            elapsed, _ = seconds(lambda: model.fit(rows.X, rows.y))
            fitted[split.seed] = model, elapsed
        return fitted[split.seed]

    def staged(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        model, elapsed = fit(split)
        for budget in _some(model.tradeoff_.cost):
            yield Entry(round(budget, 3), model.with_budget(budget), np.nan, elapsed, str(model.settings_))

    def to_the_end(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        """Models whose rows all stop at one stage, to measure the order of sources and the trees alone."""
        model, elapsed = fit(split)
        for k, cost in enumerate(model.model_.paid):
            yield Entry(round(float(cost), 3), _FixedStage(model, k), np.nan, elapsed)

    def cascade(split: Split, budgets: tuple[float, ...], times: int = 1) -> Iterator[Entry]:
        rows = split.train_and_val
        for settings in _settings(split, fit(split)[0]):
            rival = Cascade(**settings | {"n_estimators": times * settings["n_estimators"]})
            elapsed, _ = seconds(partial(rival.fit, rows.X, rows.y))
            for budget in _some(rival.rules_.cost[rival.rules_.cost > 0]):
                yield Entry(round(budget, 3), rival.with_budget(budget), np.nan, elapsed, str(settings))

    def subsets(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        rows = split.train_and_val
        for settings in _settings(split, fit(split)[0]):
            rival = FeatureSubsets(**settings)
            elapsed, _ = seconds(partial(rival.fit, rows.X, rows.y))
            for n_sources in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 28, 40):
                model = rival.with_budget(float(n_sources))
                yield Entry(float(n_sources), model, np.nan, elapsed, str(settings))

    return {
        "staged": staged,
        "staged, one stage for all": to_the_end,
        "cascade": cascade,
        # Each model has at most as many rounds as the last stage of the staged model.
        "cascade, more rounds": partial(cascade, times=LAST_STAGE_FACTOR),
        "feature subsets": subsets,
    }


def _some(costs: Any) -> list[float]:
    costs = np.unique(costs)
    return [float(costs[i]) for i in np.unique(np.linspace(0, costs.size - 1, N_POINTS).astype(int))]


def _settings(split: Split, model: BudgetClassifier) -> list[dict[str, Any]]:
    """The staged model's settings for few and for all features; other methods are evaluated with both."""
    return [
        {
            "num_leaves": settings.n_leaves,
            "n_estimators": settings.most_rounds,
            "learning_rate": settings.learning_rate,
            "lightgbm_params": {
                "extra_trees": settings.extra,
                "min_child_samples": settings.least_rows,
                "min_child_weight": least_hessian(model),
            },
            "validation_fraction": len(split.val) / (len(split.train) + len(split.val)),
            "random_state": split.seed,
            "n_jobs": 2,
        }
        for settings in model.settings_
    ]


def least_hessian(model: BudgetClassifier) -> float:
    """Minimum sum of Hessians in a leaf of a staged model; a lower one fits rare classes badly."""
    return 1e-3 if model.classes_.size == 2 else 1e-1


class _FixedStage:
    """A staged model whose rows all stop at one stage."""

    def __init__(self, model: BudgetClassifier, stage: int) -> None:
        self._columns, self._model = model._columns, model.model_
        self._rule = np.where(np.arange(len(model.model_.chain)) < stage, -np.inf, np.inf)

    def _follow(self, X: Any) -> tuple[Any, Any]:
        return self._model.chain.follow(self._columns.read(X), self._rule, self._model.objective)

    def predict(self, X: Any) -> Any:
        """Labels at that stage."""
        return self._model.answers(self._follow(X)[1])

    def acquisition_cost(self, X: Any) -> Any:
        """Price of all sources up to that stage."""
        return self._model.paid[self._follow(X)[0]]
