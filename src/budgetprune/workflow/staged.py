"""Training of a staged model: train, compare with a plain ensemble, build the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
from budgetprune.workflow.comparison import figures, rounded_up
from budgetprune.workflow.metadata import new_metadata
from budgetprune.workflow.observer import Observer
from budgetprune.workflow.options import FitOptions
from budgetprune.workflow.rebudget import unused_budget_note
from budgetprune.workflow.scores import Answers, Score, quality_of, resolve_class_weight
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

    @property
    def class_weight(self) -> Any:
        """Weights of the labels; None if there are none."""
        classes = self.data.classes
        return None if classes is None else resolve_class_weight(self.options.class_weight, classes)

    @cached_property
    def score(self) -> Score:
        """Score that chooses the model."""
        return Score.of(
            self.options.scoring,
            self.data.classes,
            class_weight=self.class_weight,
            has_queries=self.data.qid is not None,
        )


def fit_staged(training: StagedTraining, observer: Observer) -> BudgetModel:
    """Train a staged model on all rows, by cross-fitting."""
    data, options = training.data, training.options
    training.score.check(data.target.y, data.qid)
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
        plain = _plain_spec(training)
        with observer.stage(f"comparing with a plain model ({plain.kind}) on all columns"):
            compared = _compare_with_plain(predictor, training, training.test, categories, plain)
    return build_model(
        predictor,
        target=data.target.name,
        score_name=training.score.name,
        unit=options.unit,
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
    unit = f" {training.options.unit}" if training.options.unit else ""
    if isinstance(costs, dict):
        errors = ", errors cost " + ", ".join(f"{label}: {price:g}{unit}" for label, price in costs.items())
    elif isinstance(costs, int | float):
        errors = f", errors cost {costs:g}{unit}"
    else:
        errors = "" if costs is None else ", errors have costs"
    limit = "" if max_cost is None else f", at most {max_cost:g}{unit} for a row"
    return f"stages trained with {_learner_name()}{errors}{limit}"


# --- Training -----------------------------------------------------------------------------------------------


def _train(X: Any, training: StagedTraining, *, verbose: bool) -> StagedPredictor:
    """Train stages, and select the best point within the budget.

    A model that gives the same prediction for all rows is refused if the budget, or a lack of useful columns,
    is the reason.
    """
    data, budget, options = training.data, training.budget, training.options
    _refuse_if_nothing_fits(training, data.costs.resolve(X.shape[1], tuple(X.columns)))
    own: dict[str, Any] = {}
    if data.is_classifier:
        own = {"class_weight": training.class_weight, "threshold": options.threshold}
    # The default scores are those of the estimators.
    scoring = training.score.scorer if options.scoring is not None else None
    estimator = (BudgetClassifier if data.is_classifier else BudgetRegressor)(
        data.costs,
        scoring=scoring,
        budget=budget,
        error_costs=training.error_costs,
        max_cost=options.max_cost,
        time_limit=options.time_limit,
        random_state=options.random_state,
        n_jobs=options.n_jobs or boosting_threads(X),
        verbose=int(verbose),
        **own,
    )
    predictor = estimator.fit(X, data.target.y, qid=data.qid).predictor().with_budget(None)
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


def _plain_spec(training: StagedTraining) -> ensembles.EnsembleSpec:
    """Return the ordinary ensemble that a staged model is compared with."""
    kind, options, weights = "lightgbm" if has_lightgbm() else "random-forest", training.options, None
    if training.class_weight is not None:
        weights = training.class_weight
        weights = dict(enumerate(weights.values())) if isinstance(weights, dict) else weights
    return ensembles.EnsembleSpec(
        kind, random_state=options.random_state, n_jobs=options.n_jobs, class_weight=weights
    )


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
    of_chosen, of_plain, truth = found.label, forest.predict(encoded), test.y
    shares = None
    if model.answer is not None:
        assert model.classes is not None
        shares = forest.predict_proba(encoded)
        of_plain = model.classes[model.answer.answers(shares)]
        # A label that the training rows lack is None.
        truth = model.classes.astype(object)[test.y]
        truth[test.y < 0] = None
    used = sources_used(forest, predictor.costs, encoded)

    def measured(forest: Forest, cost: NDArray[np.float64], answers: Answers) -> Figures:
        has_error_costs = training.error_costs is not None
        return figures(
            forest,
            cost,
            training.score(answers),
            loss=_mean_loss(model, answers.labels, test.y) if has_error_costs else None,
            quality=quality_of(answers, model.classes),
        )

    return Compared(
        rows="test",
        n_rows=len(test.y),
        whole=measured(forest, predictor.costs.total(used), Answers(of_plain, shares, truth, test.qid)),
        chosen=measured(
            predictor.forest, found.cost, Answers(of_chosen, found.probabilities, truth, test.qid)
        ),
    )


def _mean_loss(model: StagedModel, predictions: NDArray[Any], truth: NDArray[Any]) -> float | None:
    """Return the average cost of errors; rows of classes that the model does not know are left out.

    Parameters
    ----------
    model : StagedModel
    predictions : labels or targets
    truth : class numbers, or targets
    """
    if model.answer is None or model.classes is None:
        return float(np.mean(model.objective.loss(np.column_stack([predictions, predictions]), truth)))
    is_known = truth >= 0
    number = np.searchsorted(model.classes, predictions)
    found = model.answer.cost[truth[is_known], number[is_known]]
    return float(found.mean()) if found.size else None
