"""Who competes. Each method gives one model per budget, made without a look at the test rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from benchmarks.compare.data import Split
from budgetprune import BudgetPruneClassifier, FeatureCosts, Forest
from budgetprune.acquisition import sources_used

# LightGBM's grid: what it is tuned over, and what our pruning may start from.
TRADEOFFS = (0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
LEAVES = (31, 63)
ROUNDS = (50, 100, 200)
MILD = (0.003, 0.01, 0.03)


@dataclass(frozen=True, eq=False)
class Entry:
    """A model for one budget (None: for none), and how long it took to make: growing, and the rest."""

    budget: float | None
    model: Any
    seconds_growing: float = np.nan
    seconds_pruning: float = np.nan
    note: str = ""

    def on(self, rows: tuple[NDArray[Any], NDArray[Any]]) -> tuple[float, float]:
        """Average (full) cost and accuracy."""
        X, y = rows
        if isinstance(self.model, BudgetPruneClassifier):
            return float(self.model.acquisition_cost(X).mean()), float(np.mean(self.model.predict(X) == y))
        forest = Forest.from_model(self.model)
        prices = FeatureCosts().resolve(forest.n_features, forest.feature_names)
        cost = prices.total(sources_used(forest, prices, X)).mean()
        return float(cost), float(np.mean(forest.predict(X) == y))


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
            elapsed, _ = timed(lambda: model.fit(*split.train))
            grown[split.seed] = model, elapsed
        return grown[split.seed]

    def whole(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        model, elapsed = grow(split)
        yield Entry(None, model, elapsed, 0.0)

    def paper(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        model, growing = grow(split)
        estimator = BudgetPruneClassifier(
            FrozenEstimator(model), budget=budgets[-1], error="in-bag", refit=None, random_state=split.seed
        )
        elapsed, fitted = timed(lambda: estimator.fit(**split.rows))
        for budget in budgets:
            yield Entry(budget, fitted.with_budget(budget), growing, elapsed)

    def ours(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        model, growing = grow(split)
        for budget in budgets:
            estimator = BudgetPruneClassifier(FrozenEstimator(model), budget=budget, random_state=split.seed)
            elapsed, fitted = timed(lambda estimator=estimator: estimator.fit(**split.rows))  # type: ignore[misc]
            yield Entry(budget, fitted, growing, elapsed, str(fitted.choices_))

    return {"forest": whole, "paper": paper, "ours": ours}


# --- LightGBM -----------------------------------------------------------------------------------------------


def boosted(rows: tuple[Any, Any], tradeoff: float, n_leaves: int, n_rounds: int, seed: int) -> Any:
    """Train LightGBM with a price of 1 for each feature of each row that has not used it yet."""
    X, y = rows
    return lightgbm.LGBMClassifier(
        n_estimators=n_rounds,
        num_leaves=n_leaves,
        n_jobs=2,
        random_state=seed,
        verbose=-1,
        cegb_tradeoff=tradeoff,
        cegb_penalty_feature_lazy=[1.0] * X.shape[1],
    ).fit(X, y)


def first_rounds(model: Any, n_rounds: int) -> Any:
    """The model as it was after some rounds."""
    text = model.booster_.model_to_string(num_iteration=n_rounds)
    return RelabelledBooster(lightgbm.Booster(model_str=text), model.classes_)


@dataclass(frozen=True, eq=False)
class RelabelledBooster:
    """A plain Booster numbers the classes; this one knows their names."""

    booster: Any
    classes: NDArray[Any]

    def on(self, rows: tuple[NDArray[Any], NDArray[Any]]) -> tuple[float, float]:
        X, y = rows
        return Entry(None, self.booster).on((X, np.searchsorted(self.classes, y)))


def lightgbm_methods() -> dict[str, Method]:
    """CEGB tuned on V and retrained on T and V; and our pruning of models that it trains with mild costs."""

    def cegb(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        start = time.perf_counter()
        tried: list[tuple[float, float, tuple[float, int, int]]] = []
        for tradeoff in TRADEOFFS:
            for n_leaves in LEAVES:
                model = boosted(split.train, tradeoff, n_leaves, max(ROUNDS), split.seed)
                for n_rounds in ROUNDS:
                    cost, accuracy = first_rounds(model, n_rounds).on(split.val)
                    tried.append((cost, accuracy, (tradeoff, n_leaves, n_rounds)))
        tuning = time.perf_counter() - start
        for budget in budgets:
            within = [trial for trial in tried if trial[0] <= budget]
            if within:
                setting = max(within, key=lambda trial: trial[1])[2]
                yield Entry(
                    budget, boosted(split.train_and_val, *setting, split.seed), tuning, 0.0, str(setting)
                )

    def ours(split: Split, budgets: tuple[float, ...]) -> Iterator[Entry]:
        bases = [boosted(split.train, tradeoff, 31, max(ROUNDS), split.seed) for tradeoff in MILD]
        for budget in budgets:
            start = time.perf_counter()
            fitted = [
                BudgetPruneClassifier(FrozenEstimator(base), budget=budget, random_state=split.seed).fit(
                    **split.rows
                )
                for base in bases
            ]
            # The best by cross-fitting inside V at this budget.
            scores = [max(trial.score for trial in each.choices_.trials) for each in fitted]
            best = int(np.argmax(scores))
            elapsed = time.perf_counter() - start
            note = f"tradeoff {MILD[best]}, {fitted[best].choices_}"
            yield Entry(budget, fitted[best], np.nan, elapsed, note)

    return {"LightGBM, tuned CEGB": cegb, "ours on LightGBM": ours}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that something takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
