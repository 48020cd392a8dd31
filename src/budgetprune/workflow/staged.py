"""Training of a staged model: train, compare with a plain ensemble, build the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.model import BudgetModel, Compared, Figures
from budgetprune.problem import sources_used
from budgetprune.selection import LabelledRows
from budgetprune.staged import BudgetClassifier, BudgetRegressor, StagedModel, StagedPredictor, has_lightgbm
from budgetprune.utils.threads import boosting_threads
from budgetprune.workflow import ensembles
from budgetprune.workflow.comparison import figures, rounded_up, score_predictions
from budgetprune.workflow.metadata import new_metadata
from budgetprune.workflow.observer import Observer
from budgetprune.workflow.options import FitOptions
from budgetprune.workflow.rebudget import unused_budget_note
from budgetprune.workflow.tables import Categories, learn_categories
from budgetprune.workflow.training_data import HeldOutData, TrainingData

# Limit of HistGradientBoosting.
MOST_CATEGORIES = 255
# Rows on which a model is checked for predictions that are all the same.
_ENOUGH_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class StagedTraining:
    """Inputs of a staged model.

    Attributes
    ----------
    data : TrainingData
    test : HeldOutData or None
        Test set for the comparison with a plain ensemble.
    budget : float or None
    error_costs : float, mapping or None
        As the estimators take them.
    options : FitOptions
    """

    data: TrainingData
    test: HeldOutData | None
    budget: float | None
    error_costs: Any
    options: FitOptions


def fit_staged(training: StagedTraining, observer: Observer) -> BudgetModel:
    """Train a staged model on all rows, by cross-fitting."""
    data, options = training.data, training.options
    categories = learn_categories(
        data.columns,
        data.target.y,
        is_classifier=data.is_classifier,
        most=None if has_lightgbm() else MOST_CATEGORIES,
    )
    frame = categories.restrict(data.columns.frame)
    with observer.stage(f"training stages with {_learner_name()} on {data.description}", bars=True):
        predictor = _train(frame, training, verbose=observer.has_bars)
    if _is_constant(predictor, frame):
        observer.note(
            "with these costs of errors, no column is worth its price: the model buys nothing, and predicts "
            "the same for all rows."
        )
    elif (note := unused_budget_note(predictor, training.budget)) is not None:
        observer.note(note)
    compared = None
    if training.test is not None:
        plain = _plain_spec(options)
        with observer.stage(f"comparing with a plain model ({plain.kind}) on all columns"):
            compared = _compare_with_plain(predictor, training, training.test, categories, plain)
    return build_model(
        predictor,
        target=data.target.name,
        budget=training.budget,
        n_train=len(data.target.y),
        choices=_describe_choices(training),
        compared=compared,
    )


def build_model(predictor: StagedPredictor, *, budget: float | None, **metadata: Any) -> BudgetModel:
    """Return a staged model with metadata; `metadata` are further fields of `About`."""
    curve, point = predictor.model.trade_off, predictor.model.point
    about = new_metadata(
        is_classifier=predictor.forest.is_classifier,
        budget=budget,
        counting="decided",
        lam=curve.lam[point],
        n_validation=0,
        tradeoff=None,
        model="staged",
        **metadata,
    )
    return BudgetModel(predictor, None, about)


def _learner_name() -> str:
    return "LightGBM" if has_lightgbm() else "HistGradientBoosting"


def _describe_choices(training: StagedTraining) -> str:
    costs, max_cost = training.error_costs, training.options.max_cost
    if isinstance(costs, dict):
        errors = ", errors cost " + ", ".join(f"{label}: {price:g}" for label, price in costs.items())
    elif isinstance(costs, int | float):
        errors = f", errors cost {costs:g}"
    else:
        errors = "" if costs is None else ", errors have costs"
    limit = "" if max_cost is None else f", at most {max_cost:g} for a row"
    return f"stages trained with {_learner_name()}{errors}{limit}"


# --- Training -----------------------------------------------------------------------------------------------


def _train(X: Any, training: StagedTraining, *, verbose: bool) -> StagedPredictor:
    """Train stages, and select the best point within the budget.

    A model that gives the same prediction for all rows is refused if the budget, or a lack of useful columns,
    is the reason.
    """
    data, budget, options = training.data, training.budget, training.options
    _refuse_if_nothing_fits(training, data.costs.resolve(X.shape[1], tuple(X.columns)))
    estimator = (BudgetClassifier if data.is_classifier else BudgetRegressor)(
        data.costs,
        budget=budget,
        error_costs=training.error_costs,
        max_cost=options.max_cost,
        time_limit=options.time_limit,
        random_state=options.random_state,
        n_jobs=options.n_jobs or boosting_threads(X),
        verbose=int(verbose),
    )
    predictor = estimator.fit(X, data.target.y).predictor().with_budget(None)
    if _is_constant(predictor, X):
        if training.error_costs is None:
            raise InvalidInputError(
                "no column helps to predict the target: with all of them, the model is no better than one "
                "answer for all rows. More rows may help."
            )
        return predictor  # with error costs, it may be best to buy nothing
    if budget is None:
        return predictor
    chosen = predictor.with_budget(budget)
    if _is_constant(chosen, X):
        raise InvalidInputError(
            f"a budget of {budget:g} is enough for some columns, but they do not help to predict the target: "
            f"the cheapest useful model costs {rounded_up(_cheapest_useful(predictor, X))} per prediction, "
            "on average; give at least that."
        )
    return chosen


def _is_constant(predictor: StagedPredictor, X: Any) -> bool:
    """Whether a model gives the same prediction for all rows."""
    found = predictor.simulate(X[:_ENOUGH_ROWS])
    outputs = found.label if found.probabilities is None else found.probabilities
    return bool(np.all(outputs == outputs[:1]))


def _refuse_if_nothing_fits(training: StagedTraining, costs: CostTable) -> None:
    cheapest = float(costs.price_alone.min())
    for limit, what in ((training.budget, "a budget"), (training.options.max_cost, "a limit for each row")):
        if limit is not None and cheapest > limit * ROUNDING:
            raise InvalidInputError(
                f"{what} of {limit:g} buys nothing: the cheapest column costs {rounded_up(cheapest)}; give "
                "at least that."
            )


def _cheapest_useful(predictor: StagedPredictor, X: Any) -> float:
    costs = predictor.model.trade_off.cost.tolist()
    return float(next(cost for cost in costs if not _is_constant(predictor.with_budget(cost), X)))


# --- Comparison with a plain ensemble -----------------------------------------------------------------------


def _plain_spec(options: FitOptions) -> ensembles.EnsembleSpec:
    """Return the ordinary ensemble that a staged model is compared with."""
    kind = "lightgbm" if has_lightgbm() else "random-forest"
    return ensembles.EnsembleSpec(kind, random_state=options.random_state, n_jobs=options.n_jobs)


def _compare_with_plain(
    predictor: StagedPredictor,
    training: StagedTraining,
    test: HeldOutData,
    categories: Categories,
    plain: ensembles.EnsembleSpec,
) -> Compared:
    """Train a plain ensemble on all columns, and compare it with the staged model on the test rows.

    The plain ensemble ignores costs. Its classes are chosen like those of the staged model, by error costs.
    """
    data = training.data
    y = np.unique(data.target.y, return_inverse=True)[1] if data.is_classifier else data.target.y
    rows = LabelledRows(categories.encode(data.columns.frame, plain.dtype), y)
    ensemble = ensembles.train_ensemble(
        plain, rows, is_classifier=data.is_classifier, categorical=categories.columns
    )
    forest, encoded = Forest.from_model(ensemble), categories.encode(test.frame, plain.dtype)
    model, found = predictor.model, predictor.simulate(test.frame)
    if model.answer is None:
        predictions, plain_predictions = found.label, forest.predict(encoded)
    else:
        assert found.probabilities is not None
        predictions = model.answer.answers(found.probabilities)
        plain_predictions = model.answer.answers(forest.predict_proba(encoded))
    used = sources_used(forest, predictor.costs, encoded)
    has_error_costs = training.error_costs is not None

    def measured(forest: Forest, cost: NDArray[np.float64], predictions: NDArray[Any]) -> Figures:
        return figures(
            forest,
            cost,
            score_predictions(predictions, test.y, is_classifier=model.answer is not None),
            loss=_mean_loss(model, predictions, test.y) if has_error_costs else None,
        )

    return Compared(
        rows="test",
        n_rows=len(test.y),
        whole=measured(forest, predictor.costs.total(used), plain_predictions),
        chosen=measured(predictor.forest, found.cost, predictions),
    )


def _mean_loss(model: StagedModel, predictions: NDArray[Any], truth: NDArray[Any]) -> float | None:
    """Return the average cost of errors; rows of classes that the model does not know are left out."""
    if model.answer is None:
        return float(np.mean(model.objective.loss(np.column_stack([predictions, predictions]), truth)))
    is_known = truth >= 0
    found = model.answer.cost[truth[is_known], predictions[is_known]]
    return float(found.mean()) if found.size else None
