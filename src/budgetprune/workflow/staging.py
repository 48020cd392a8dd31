"""From rows and prices to a staged model for a budget, and what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable, FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.model.about import About, Compared, Figures
from budgetprune.model.model import BudgetModel
from budgetprune.problem.acquisition import sources_used
from budgetprune.selection import LabelledRows
from budgetprune.staged import BudgetClassifier, BudgetRegressor, StagedPredictor
from budgetprune.staged.learners import has_lightgbm
from budgetprune.staged.model import StagedModel
from budgetprune.utils.environment import versions
from budgetprune.utils.threads import boosting_threads
from budgetprune.workflow import growing
from budgetprune.workflow.making import PACKAGES, SPENDS_ENOUGH, rounded_up, score_answers

Staged = BudgetClassifier | BudgetRegressor

# Rows that show whether all answers of a model are the same.
_ENOUGH_ROWS = 20_000


@dataclass(frozen=True)
class StagedWishes:
    """What a staged model should be like; see `BudgetClassifier`."""

    budget: float | None
    error_costs: Any = None
    max_cost: float | None = None
    time_limit: float | None = None
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool = False


# --- Training -----------------------------------------------------------------------------------------------


def train(
    X: Any, y: NDArray[Any], costs: FeatureCosts, wishes: StagedWishes, *, is_classifier: bool
) -> StagedPredictor:
    """Train a staged model, and take the best point within the budget.

    A model that answers all rows alike is refused if a budget, or a lack of useful columns, is the reason.

    Parameters
    ----------
    X : pandas table; columns of type ``category`` have categories
    y : labels or targets
    costs : what columns cost
    wishes : what is wanted
    is_classifier : whether `y` are labels
    """
    budget = wishes.budget
    _refuse_if_nothing_fits(wishes, costs.resolve(X.shape[1], tuple(X.columns)))
    estimator = _estimator(costs, wishes, X, is_classifier=is_classifier).fit(X, y)
    predictor = estimator.predictor().with_budget(None)
    if is_constant(predictor, X):
        if wishes.error_costs is None:
            raise InvalidInputError(
                "no column helps to predict the target: with all of them, the model is no better than one "
                "answer for all rows. More rows may help."
            )
        return predictor  # with error costs, it may be best to buy nothing
    if budget is None:
        return predictor
    chosen = predictor.with_budget(budget)
    if is_constant(chosen, X):
        raise InvalidInputError(
            f"a budget of {budget:g} is enough for some columns, but they do not help to predict the target: "
            f"the cheapest useful model costs {rounded_up(_cheapest_useful(predictor, X))} per prediction, "
            "on average; give at least that."
        )
    return chosen


def _estimator(costs: FeatureCosts, wishes: StagedWishes, X: Any, *, is_classifier: bool) -> Staged:
    return (BudgetClassifier if is_classifier else BudgetRegressor)(
        costs,
        budget=wishes.budget,
        error_costs=wishes.error_costs,
        max_cost=wishes.max_cost,
        time_limit=wishes.time_limit,
        random_state=wishes.seed,
        n_jobs=wishes.n_jobs or boosting_threads(X),
        verbose=int(wishes.verbose),
    )


def is_constant(predictor: StagedPredictor, X: Any) -> bool:
    """Whether a model answers all rows alike."""
    found = predictor.simulate(X[:_ENOUGH_ROWS])
    outputs = found.label if found.probabilities is None else found.probabilities
    return bool(np.all(outputs == outputs[:1]))


def _refuse_if_nothing_fits(wishes: StagedWishes, costs: CostTable) -> None:
    cheapest = float(costs.price_alone.min())
    for limit, what in ((wishes.budget, "a budget"), (wishes.max_cost, "a limit for each row")):
        if limit is not None and cheapest > limit * ROUNDING:
            raise InvalidInputError(
                f"{what} of {limit:g} buys nothing: the cheapest column costs {rounded_up(cheapest)}; give "
                "at least that."
            )


def _cheapest_useful(predictor: StagedPredictor, X: Any) -> float:
    costs = predictor.model.trade_off.cost.tolist()
    return float(next(cost for cost in costs if not is_constant(predictor.with_budget(cost), X)))


def unspent(predictor: StagedPredictor, budget: float | None) -> str | None:
    """Say so if much of a budget is left; None if it is well spent."""
    model = predictor.model
    curve, point = model.trade_off, model.point
    cost = float(curve.cost[point])
    if budget is None or cost >= SPENDS_ENOUGH * budget:
        return None
    start = f"the model costs {cost:.4g}, and much of the budget of {budget:g} is left"
    if point == len(curve) - 1:
        return f"{start}: spending more did not make it better on rows that it was not trained on."
    if point == model.best:
        return f"{start}: more would cost more than the errors that it avoids."
    return f"{start}: the next better one costs {rounded_up(float(curve.cost[point + 1]))}."


# --- Beside a plain model -----------------------------------------------------------------------------------


def compare(
    predictor: StagedPredictor, test: LabelledRows, plain: Forest, encoded: Any, *, has_error_costs: bool
) -> Compared:
    """Compare a staged model with a plain one on test rows.

    Parameters
    ----------
    predictor : StagedPredictor
    test : rows as a table, and their classes by number (-1: a class that the model does not know) or targets
    plain : Forest
        Trained on all columns, with classes by number. Its classes are chosen like those of the staged model,
        by what errors cost.
    encoded : the same rows, as `plain` takes them
    has_error_costs : whether the user has said what errors cost
    """
    model, found = predictor.model, predictor.simulate(test.X)
    if model.answer is None:
        answers, plain_answers = found.label, plain.predict(encoded)
    else:
        assert found.probabilities is not None
        answers = model.answer.answers(found.probabilities)
        plain_answers = model.answer.answers(plain.predict_proba(encoded))
    used = sources_used(plain, predictor.costs, encoded)

    def figures(forest: Forest, cost: NDArray[np.float64], answers: NDArray[Any]) -> Figures:
        return Figures(
            cost=float(np.mean(cost)),
            decided_cost=None,
            score=score_answers(answers, test.y, is_classifier=model.answer is not None),
            n_features=forest.used_features.size,
            n_splits=forest.n_splits,
            loss=_loss(model, answers, test.y) if has_error_costs else None,
        )

    return Compared(
        rows="test",
        n_rows=len(test),
        whole=figures(plain, predictor.costs.total(used), plain_answers),
        chosen=figures(predictor.forest, found.cost, answers),
    )


def _loss(model: StagedModel, answers: NDArray[Any], truth: NDArray[Any]) -> float | None:
    """Average price of wrong answers; rows whose class the model does not know have none."""
    if model.answer is None:
        return float(np.mean(model.objective.loss(np.column_stack([answers, answers]), truth)))
    is_known = truth >= 0
    found = model.answer.cost[truth[is_known], answers[is_known]]
    return float(found.mean()) if found.size else None


def plain_kind() -> str:
    """What a staged model is compared with."""
    return "lightgbm" if has_lightgbm() else "random-forest"


def grow_plain(
    rows: LabelledRows, categorical: list[int], wishes: StagedWishes, *, is_classifier: bool
) -> Forest:
    """Train an ordinary ensemble on all columns, as one would without prices."""
    kind = plain_kind()
    model = growing.grow(
        kind,
        rows.X,
        rows.y,
        is_classifier=is_classifier,
        n_trees=growing.USUAL_TREES[kind],
        seed=wishes.seed,
        n_jobs=wishes.n_jobs,
        categorical=categorical,
    )
    return Forest.from_model(model)


# --- What is kept -------------------------------------------------------------------------------------------


def keep(
    predictor: StagedPredictor,
    compared: Compared | None,
    *,
    target: str,
    budget: float | None,
    n_train: int,
    choices: str,
) -> BudgetModel:
    """Put a staged model and how it was made together."""
    is_classifier = predictor.forest.is_classifier
    about = About(
        target=target,
        task="classification" if is_classifier else "regression",
        score_name="accuracy" if is_classifier else "R²",
        budget=None if budget is None else float(budget),
        counting="decided",
        lam=float(predictor.model.trade_off.lam[predictor.model.point]),
        n_train=n_train,
        n_validation=0,
        created=datetime.now(UTC).date().isoformat(),
        versions=versions(PACKAGES),
        choices=choices,
        tradeoff=None,
        model="staged",
        compared=compared,
    )
    return BudgetModel(predictor, None, about)


def rebudgeted(model: BudgetModel, budget: float | None) -> BudgetModel:
    """Return a staged model at another budget: the same trees, other stopping rules.

    What was measured on test rows at the budget before is left out.
    """
    predictor = model.predictor
    if not isinstance(predictor, StagedPredictor):
        raise InvalidInputError(
            "a pruned model is for one budget; only staged models, which budgetprune fit writes by default, "
            "have others. Fit or prune it again with another --budget."
        )
    best = predictor.with_budget(None)
    is_too_small = budget is not None and predictor.model.trade_off.within(budget) is None
    other = None if is_too_small else predictor.with_budget(budget)
    if other is None or (_uses_columns(best) and not _uses_columns(other)):
        curve = predictor.model.trade_off
        useful = (float(cost) for cost in curve.cost if _uses_columns(predictor.with_budget(float(cost))))
        raise InvalidInputError(
            f"a budget of {budget:g} is too small for the stages of this model: its cheapest useful point "
            f"costs {rounded_up(next(useful))} per prediction, on average. Give at least that, or train a "
            f"model for this budget: budgetprune fit --budget {budget:g}."
        )
    about = model.about
    if about is not None:
        lam = float(other.model.trade_off.lam[other.model.point])
        about = replace(about, budget=budget, lam=lam, compared=None)
    return BudgetModel(other, None, about)


def _uses_columns(predictor: StagedPredictor) -> bool:
    """Whether a model looks at any column; else it answers all rows alike."""
    return predictor.forest.n_splits > 0
