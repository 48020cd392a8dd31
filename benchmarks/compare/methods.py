"""Compared methods: each makes one model per budget, without the test rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from benchmarks.measure import seconds
from budgetprune import BudgetPredictor, BudgetPruneClassifier
from budgetprune.baselines import CEGBClassifier, PlainForest
from budgetprune.selection import LabelledRows
from budgetprune_experiments.grids import BoostingGrid
from budgetprune_experiments.split import Split

# Only models with at most this many times the budgeted cost are pruned; feature costs were low in training.
MILD = 2.5
# A model with early decisions is fitted for this share of a budget; other points of its path are added for
# the shares in OTHERS.
EARLY = 0.55
OTHERS = (0.35, 0.45, 0.7)
# The largest slack is used that lowers the accuracy on validation rows by at most TOLERATED.
SLACKS = np.arange(1, 10) / 20
TOLERATED = 0.001


@dataclass(frozen=True, eq=False)
class Entry:
    """A model for one budget (None: no budget), with the times for training and for pruning it."""

    budget: float | None
    model: Any
    seconds_growing: float = np.nan
    seconds_pruning: float = np.nan
    note: str = ""

    def on(self, rows: LabelledRows) -> tuple[float, float]:
        """Average cost and accuracy: decided cost of a predictor, full cost of all others."""
        if isinstance(self.model, BudgetPredictor):
            simulation = self.model.simulate(rows.X)
            return float(simulation.cost.mean()), float(np.mean(simulation.label == rows.y))
        cost, label = self.model.acquisition_cost(rows.X), self.model.predict(rows.X)
        return float(cost.mean()), float(np.mean(label == rows.y))


Method = Callable[[Split, tuple[float, ...]], Iterator[Entry]]


# --- Random forests -----------------------------------------------------------------------------------------


def forest_methods() -> dict[str, Method]:
    """The forest itself, the paper's pruning of it, and ours; all three share one forest per split."""
    grown: dict[int, tuple[RandomForestClassifier, float]] = {}

    def grow(split: Split) -> tuple[RandomForestClassifier, float]:
        if split.seed not in grown:
            grown.clear()
            model = RandomForestClassifier(
                40, criterion="entropy", max_features=None, random_state=split.seed, n_jobs=2
            )
            elapsed, _ = seconds(lambda: model.fit(split.train.X, split.train.y))
            grown[split.seed] = model, elapsed
        return grown[split.seed]

    def whole(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        model, elapsed = grow(split)
        plain = PlainForest(FrozenEstimator(model)).fit(split.train.X, split.train.y)
        yield Entry(None, plain, elapsed, 0.0)

    def paper(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        model, growing = grow(split)
        estimator = BudgetPruneClassifier(
            FrozenEstimator(model), budget=budgets[-1], error="in-bag", refit=None, random_state=split.seed
        )
        elapsed, fitted = seconds(lambda: estimator.fit(**split.fit_rows))
        for budget in budgets:
            yield Entry(budget, fitted.with_budget(budget), growing, elapsed)

    def ours(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        model, growing = grow(split)
        for budget in budgets:
            estimator = BudgetPruneClassifier(FrozenEstimator(model), budget=budget, random_state=split.seed)
            elapsed, fitted = seconds(partial(estimator.fit, **split.fit_rows))
            yield Entry(budget, fitted, growing, elapsed, str(fitted.choices_))

    return {"forest": whole, "paper": paper, "ours": ours}


# --- LightGBM -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """Training parameters of LightGBM with lazy feature costs (CEGB), at a price of 1 per feature."""

    tradeoff: float
    n_leaves: int
    n_rounds: int
    learning_rate: float
    least_hessian: float
    seed: int

    def train(self, rows: LabelledRows) -> CEGBClassifier:
        return CEGBClassifier(
            tradeoff=self.tradeoff,
            n_estimators=self.n_rounds,
            num_leaves=self.n_leaves,
            learning_rate=self.learning_rate,
            min_child_weight=self.least_hessian,
            n_jobs=2,
            random_state=self.seed,
        ).fit(rows.X, rows.y)


@dataclass(frozen=True, eq=False)
class Trained:
    """A model trained on T, and its average cost and accuracy on V."""

    setting: Setting
    model: Any
    cost: float
    accuracy: float


def lightgbm_methods(grid: BoostingGrid) -> dict[str, Method]:
    """Methods on LightGBM: CEGB tuned on V and retrained on T and V; pruned models of lower feature costs."""
    cache: dict[int, tuple[list[Trained], float]] = {}
    decided: dict[int, list[Entry]] = {}

    def trained(split: Split) -> tuple[list[Trained], float]:
        """All models of the grid, with the training time; the methods share them."""
        if split.seed not in cache:
            cache.clear()
            elapsed, models = seconds(lambda: list(_train_grid(grid, split)))
            cache[split.seed] = models, elapsed
        return cache[split.seed]

    def tuned(split: Split, budgets: tuple[float, ...]) -> dict[float, Setting]:
        """For each budget, the model that is most accurate on V among those within the budget on V."""
        models, _ = trained(split)
        within = {budget: [each for each in models if each.cost <= budget] for budget in budgets}
        return {
            budget: max(some, key=lambda each: each.accuracy).setting
            for budget, some in within.items()
            if some
        }

    def cegb(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        for budget, setting in tuned(split, budgets).items():
            yield Entry(budget, setting.train(split.train_and_val), trained(split)[1], 0.0, str(setting))

    def early(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        if split.seed not in decided:
            decided.clear()
            decided[split.seed] = list(_decided_early(split, tuned(split, budgets)))
        yield from decided[split.seed]

    def slack(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        for entry in early(split, budgets):
            yield replace(entry, model=_with_slack(entry.model, split))

    def ours(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        models, _ = trained(split)
        # For each tradeoff, the model with all rounds that is most accurate on V.
        full = [
            max(
                (each for each in models if (each.setting.tradeoff, each.setting.n_rounds) == last),
                key=lambda each: each.accuracy,
            )
            for last in product(grid.weights, [max(grid.rounds)])
        ]
        for budget in budgets:
            mild = [each for each in full if budget <= each.cost <= MILD * budget]
            bases = mild or [max(full, key=lambda each: each.cost)]
            start = time.perf_counter()
            fitted = [_pruned(split, each, budget) for each in bases]
            elapsed = time.perf_counter() - start
            # Choose the model with the best cross-fitted score inside V at this budget.
            scores = [max(trial.score for trial in each.choices_.trials) for each in fitted]
            best = int(np.argmax(scores))
            note = f"{bases[best].setting}, {fitted[best].choices_}"
            yield Entry(budget, fitted[best], np.nan, elapsed, note)

    return {
        "LightGBM, tuned CEGB": cegb,
        "ours on LightGBM": ours,
        "ours, decided early": early,
        "ours, decided, slack": slack,
    }


def _pruned(split: Split, base: Trained, budget: float) -> BudgetPruneClassifier:
    frozen = FrozenEstimator(base.model.estimator_)
    return BudgetPruneClassifier(frozen, budget=budget, random_state=split.seed).fit(**split.fit_rows)


def _decided_early(split: Split, settings: dict[float, Setting]) -> Iterator[Entry]:
    """Prune models for decided costs, at more budgets than CEGB, so that interpolation is accurate."""
    for budget, setting in settings.items():
        # Try CEGB's setting for this budget and for the next larger one; cross-fitting inside V chooses.
        larger = [each for other, each in settings.items() if other > budget][:1]
        start = time.perf_counter()
        bases = dict.fromkeys([setting, *larger])
        fitted = {base: _decided(split, base, EARLY * budget) for base in bases}
        best = max(bases, key=lambda base: max(trial.score for trial in fitted[base].choices_.trials))
        elapsed = time.perf_counter() - start
        note = f"{best}, {fitted[best].choices_}"
        yield Entry(round(EARLY * budget, 2), fitted[best].predictor(), np.nan, elapsed, note)
        for share in OTHERS:
            other = fitted[best].with_budget(share * budget)
            yield Entry(round(share * budget, 2), other.predictor(), np.nan, np.nan, note)


def _decided(split: Split, setting: Setting, budget: float) -> BudgetPruneClassifier:
    frozen = FrozenEstimator(setting.train(split.train).estimator_)
    estimator = BudgetPruneClassifier(
        frozen, budget=budget, counting="decided", refit="own", random_state=split.seed
    )
    return estimator.fit(**split.fit_rows)


def _with_slack(predictor: BudgetPredictor, split: Split) -> BudgetPredictor:
    """Return the predictor with the largest slack that hardly lowers the accuracy on V."""
    forest, costs = predictor.forest, predictor.costs
    tried = [predictor, *(BudgetPredictor(forest, costs, slack=slack) for slack in SLACKS)]
    accuracy = [Entry(None, each).on(split.val)[1] for each in tried]
    return tried[max(k for k in range(len(tried)) if accuracy[k] >= accuracy[0] - TOLERATED)]


def _train_grid(grid: BoostingGrid, split: Split) -> Iterator[Trained]:
    for tradeoff, n_leaves in product(grid.weights, grid.sizes):
        last = Setting(
            tradeoff, n_leaves, max(grid.rounds), grid.learning_rate, grid.least_hessian, split.seed
        )
        model = last.train(split.train)
        for n_rounds in grid.rounds:
            cost, accuracy = Entry(None, model.first_rounds(n_rounds)).on(split.val)
            yield Trained(replace(last, n_rounds=n_rounds), model, cost, accuracy)
