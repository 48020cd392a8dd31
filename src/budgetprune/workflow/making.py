"""From an ensemble and rows to a `BudgetModel`: prune, refuse a budget that buys nothing, compare."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import r2_score

from budgetprune.costs import FeatureCosts
from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.forest import Forest
from budgetprune.model.about import About, Compared, Figures
from budgetprune.model.model import BudgetModel
from budgetprune.path import PruningPath
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem.acquisition import sources_used
from budgetprune.selection import LabelledRows
from budgetprune.utils.environment import versions

Pruned = BudgetPruneClassifier | BudgetPruneRegressor

PACKAGES = ("budgetprune", "numpy", "scikit-learn", "lightgbm", "xgboost")
# Rows that are simulated to know an average decided cost to a percent or so.
ENOUGH_ROWS = 2000
# A model that costs less than this share of the budget leaves something to be wished for.
SPENDS_ENOUGH = 0.7


@dataclass(frozen=True)
class Wishes:
    """What somebody wants of a model; see `BudgetPruneClassifier`."""

    budget: float | None
    counting: Literal["full", "decided"] = "full"
    slack: float | str = 0.0
    tolerance: float | None = None
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool = False


@dataclass(frozen=True, eq=False)
class Naming:
    """What features, categories and classes are called outside, where they are no numbers."""

    features: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...] | None = None
    classes: NDArray[Any] | None = None

    def of(self, forest: Forest) -> Forest:
        """The same forest, with names."""
        return replace(
            forest,
            feature_names=self.features,
            categories=forest.categories if self.categories is None else self.categories,
            classes=forest.classes if self.classes is None else self.classes,
        )


def prune(
    model: Any,
    train: LabelledRows | None,
    validation: LabelledRows,
    costs: FeatureCosts,
    wishes: Wishes,
    *,
    is_classifier: bool,
) -> Pruned:
    """Prune a fitted ensemble for a budget, or say what the cheapest useful model costs.

    Parameters
    ----------
    model : fitted model
    train : the rows that it was trained on, if they are known
    validation : rows that count costs and make choices
    costs : what features cost
    wishes : what is wanted
    is_classifier : whether the model predicts classes
    """
    given: dict[str, Any] = {
        "costs": costs,
        "budget": wishes.budget,
        "counting": wishes.counting,
        "slack": wishes.slack,
        "random_state": wishes.seed,
        "n_jobs": wishes.n_jobs,
        "verbose": int(wishes.verbose),
    }
    estimator: Pruned
    if is_classifier:
        estimator = BudgetPruneClassifier(FrozenEstimator(model), **given)
    else:
        estimator = BudgetPruneRegressor(FrozenEstimator(model), tolerance=wishes.tolerance, **given)
    with warnings.catch_warnings():
        # What a budget is too small for is an error here, once it is known what would do.
        warnings.filterwarnings("ignore", "a budget of .* buys nothing", BudgetWarning)
        if train is None:
            estimator.fit(validation.X, validation.y)
        else:
            estimator.fit(train.X, train.y, X_val=validation.X, y_val=validation.y)
    _refuse_useless(estimator)
    return estimator


def _refuse_useless(estimator: Pruned) -> None:
    path, budget = estimator.path_, estimator.budget
    useful = path.cheapest_useful
    is_free = bool(path.n_splits[-1])  # the last point keeps what is free, and that may be of use
    if useful is None:
        if not is_free:
            raise InvalidInputError(
                "no column helps to predict the target: on these rows, no split is worth any cost. More rows "
                "may help."
            )
        return
    if budget is None or estimator.lambda_ < path.lam[useful + 1] or is_free:
        return
    needed = float(
        np.interp(path.cost[useful], estimator.tradeoff_.full_cost[::-1], estimator.tradeoff_.cost[::-1])
    )
    raise InvalidInputError(
        f"a budget of {budget:g} buys nothing: the cheapest useful model costs {rounded_up(needed)} per "
        f"prediction ({estimator.counting} cost, on average), and the most expensive one "
        f"{rounded_up(path.cost[0])}; give at least the former, or prune an ensemble that was trained "
        "without the most expensive columns."
    )


def rounded_up(cost: float) -> str:
    """Write a cost with four digits, and no less than it is."""
    if cost <= 0:
        return "0"
    digits = 10.0 ** (3 - np.floor(np.log10(cost)))
    return f"{np.ceil(cost * digits - 1e-6) / digits:.6g}"


def unspent(estimator: Pruned) -> str | None:
    """Say so if most of a budget is left, because nothing between is optimal; None if it is well spent."""
    budget, known = estimator.budget, estimator.tradeoff_
    if budget is None or estimator.cost_ >= SPENDS_ENOUGH * budget or not (known.cost > budget).any():
        return None
    next_cost = float(known.cost[known.cost > budget].min())
    return (
        f"the model costs {estimator.cost_:.4g}, and much of the budget of {budget:g} is left: the next one "
        f"on the path costs {rounded_up(next_cost)}, and none between them is optimal. Another ensemble, "
        "or one of more trees, may have one."
    )


# --- Beside the whole ensemble ------------------------------------------------------------------------------


def compare(
    estimator: Pruned,
    validation: LabelledRows,
    test: LabelledRows | None,
) -> Compared:
    """See what is given up: the whole ensemble beside the chosen model, on test rows if there are any.

    Without test rows, the chosen model's score is the cross-fitted one: its leaves know the validation rows.
    """
    rows = validation if test is None else test
    chosen = estimator.predictor()
    whole = BudgetPredictor(estimator.path_.forest, chosen.costs)
    score = _cross_fitted_score(estimator) if test is None else score_of(chosen, rows)
    return Compared(
        rows="validation" if test is None else "test",
        n_rows=len(rows),
        whole=_figures(whole, rows, score_of(whole, rows)),
        chosen=_figures(chosen, rows, score),
    )


def score_of(predictor: BudgetPredictor, rows: LabelledRows) -> float | None:
    """Accuracy or R² of the answers that are paid for; None if one row is all there is for R²."""
    changes_answers = predictor.slack > 0 or bool(predictor.tolerance)
    answers = predictor.simulate(rows.X).label if changes_answers else predictor.predict(rows.X)
    return score_answers(answers, rows.y, is_classifier=predictor.forest.is_classifier)


def score_answers(answers: NDArray[Any], truth: NDArray[Any], *, is_classifier: bool) -> float | None:
    """Compute accuracy or R²; None if there is a single row, which has no R²."""
    if is_classifier:
        return float(np.mean(answers == truth))
    return float(r2_score(truth, answers)) if len(truth) > 1 else None


def _cross_fitted_score(estimator: Pruned) -> float | None:
    known = estimator.tradeoff_
    point = estimator.path_.at(lam=estimator.lambda_).cost
    score = float(np.interp(point, known.full_cost[::-1], known.score[::-1]))
    return score if np.isfinite(score) else None


def _figures(predictor: BudgetPredictor, rows: LabelledRows, score: float | None) -> Figures:
    forest = predictor.forest
    some = rows.X[:: -(-len(rows) // ENOUGH_ROWS)]
    return Figures(
        cost=float(np.mean(predictor.costs.total(sources_used(forest, predictor.costs, rows.X)))),
        decided_cost=float(np.mean(predictor.simulate(some).cost)),
        score=score,
        n_features=forest.used_features.size,
        n_splits=forest.n_splits,
    )


# --- What is kept -------------------------------------------------------------------------------------------


def keep(
    estimator: Pruned,
    naming: Naming,
    compared: Compared | None,
    *,
    target: str,
    model: str,
    n_train: int,
    n_validation: int,
) -> BudgetModel:
    """Put a pruned ensemble, its path and how it came about together."""
    chosen = estimator.predictor()
    predictor = BudgetPredictor(
        naming.of(chosen.forest), chosen.costs, slack=chosen.slack, tolerance=chosen.tolerance
    )
    about = About(
        target=target,
        task="classification" if chosen.forest.is_classifier else "regression",
        score_name="accuracy" if chosen.forest.is_classifier else "R²",
        budget=None if estimator.budget is None else float(estimator.budget),
        counting="decided" if estimator.counting == "decided" else "full",
        lam=float(estimator.lambda_),
        n_train=n_train,
        n_validation=n_validation,
        created=datetime.now(UTC).date().isoformat(),
        versions=versions(PACKAGES),
        choices=_in_words(estimator),
        tradeoff=_tradeoff(estimator),
        model=model,
        compared=compared,
    )
    return BudgetModel(predictor, _named_path(estimator.path_, naming), about)


def _named_path(path: PruningPath, naming: Naming) -> PruningPath:
    forest = naming.of(path.forest)
    return replace(path, forest=forest, unpruned=replace(path.unpruned, unpruned=forest))


def _in_words(estimator: Pruned) -> str:
    choices = estimator.choices_
    measured = f"errors {choices.error}" + (f" ({choices.loss})" if choices.loss else "")
    leaves = (
        "leaves as grown"
        if choices.refit is None
        else f"leaves refitted ({choices.refit}, ridge {choices.ridge:g})"
    )
    slack = f", slack {choices.slack:g}" if choices.slack else ""
    return f"{measured}, {leaves}{slack}"


def _tradeoff(estimator: Pruned) -> dict[str, list[float]] | None:
    known = estimator.tradeoff_
    if not np.isfinite(known.score).all():
        return None
    return {name: getattr(known, name).tolist() for name in ("full_cost", "cost", "score")}
