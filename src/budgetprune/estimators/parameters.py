"""Checks of estimator parameters, before any work starts."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from budgetprune.errors import InvalidInputError
from budgetprune.problem import ERROR_ESTIMATES, SOLVERS, has_path, node_losses_for, path_solvers
from budgetprune.ranking import RankingScorer
from budgetprune.selection import NO_PROBABILITIES, supported_model
from budgetprune.utils.numbers import at_least_zero, between_zero_and_one, check_budget_parameter, one_of

if TYPE_CHECKING:
    from budgetprune.estimators.base import BudgetPruneBase


def check_parameters(estimator: BudgetPruneBase) -> None:
    """Raise unless the parameters of an estimator are valid, alone and together."""
    if estimator.budget is not None and estimator.lam is not None:
        raise InvalidInputError("give a budget or a lam, not both: each of them picks one point of the path.")
    check_budget_parameter(estimator.budget)
    if estimator.lam is not None:
        at_least_zero(estimator.lam, "lam")
    one_of("error", estimator.error, ("auto", *ERROR_ESTIMATES.names))
    one_of("loss", estimator.loss, (None, *node_losses_for(estimator._by_class)))
    one_of("refit", estimator.refit, ("auto", None, *estimator._refits))
    one_of("solver", estimator.solver, SOLVERS.names)
    if not (isinstance(estimator.ridge, str) and estimator.ridge == "auto"):
        at_least_zero(estimator.ridge, "ridge")
    between_zero_and_one("validation_fraction", estimator.validation_fraction, ends=False)
    if estimator.lam is None and not has_path(estimator.solver):
        raise InvalidInputError(
            f"solver={estimator.solver!r} solves for one lam at a time: give lam=..., or use a solver that "
            f"computes the whole path ({', '.join(map(repr, path_solvers()))})."
        )
    _check_counting(estimator)
    if isinstance(estimator.scoring, list | tuple | set | dict):
        raise InvalidInputError("scoring must be one scorer, not several: choices are made by it.")
    _check_model(estimator)


def check_scorer(estimator: BudgetPruneBase, scorer: Any) -> None:
    """Raise if a scorer needs probabilities, which predictions with slack do not have."""
    has_slack = isinstance(estimator.slack, str) or estimator.slack > 0
    asks_for = getattr(scorer, "_response_method", "predict")  # scikit-learn's scorers have it
    ranks_by_probability = isinstance(scorer, RankingScorer) and hasattr(estimator, "predict_proba")
    if has_slack and (asks_for != "predict" or ranks_by_probability):
        raise InvalidInputError(NO_PROBABILITIES)


def check_estimate_possible(estimator: BudgetPruneBase, *, has_train: bool) -> None:
    """Raise if errors are measured on the training rows of a frozen estimator, but these were not given."""
    if has_train or estimator.error == "auto" or not isinstance(estimator.estimator, FrozenEstimator):
        return
    if ERROR_ESTIMATES.find(estimator.error).needs_training_rows:
        others = ", ".join(repr(each.name) for each in ERROR_ESTIMATES if not each.needs_training_rows)
        raise InvalidInputError(
            f"error={estimator.error!r} needs the rows that the frozen estimator was trained on: write "
            f"fit(X_train, y_train, X_val=..., y_val=...), or use {others} or 'auto'."
        )


def check_queries(estimator: BudgetPruneBase, qid: Any) -> None:
    """Raise if the scorer ranks within queries, but no query ids were given."""
    if qid is None and isinstance(estimator.scoring, RankingScorer):
        raise InvalidInputError(
            f"scoring={estimator.scoring!r} ranks documents within queries: pass fit(X, y, qid=...), the "
            "query id of each row (and qid_val with X_val)."
        )


def _check_counting(estimator: BudgetPruneBase) -> None:
    one_of("counting", estimator.counting, ("full", "decided"))
    slack, tolerance = estimator.slack, estimator.tolerance
    if not (isinstance(slack, str) and slack == "auto") and not _is_slack(slack):
        raise InvalidInputError(
            f"slack must be a number of at least 0 and below 0.5, or 'auto', not {slack!r}."
        )
    if tolerance is not None:
        at_least_zero(tolerance, "tolerance")
    if estimator.counting == "full":
        for name, value in (("slack", slack), ("tolerance", tolerance)):
            if value not in (0, None):
                raise InvalidInputError(
                    f"{name}={value!r} is about predictions that stop early: it needs counting='decided'."
                )
    if slack == "auto" and estimator.lam is not None:
        raise InvalidInputError("slack='auto' is chosen for a budget; with a lam, give a number.")
    if slack != 0 and not estimator._by_class and not tolerance:
        raise InvalidInputError(
            f"slack={slack!r} does nothing without a tolerance: give tolerance=..., the width of an interval "
            "of targets that is narrow enough."
        )


def _is_slack(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < 0.5


def _check_model(estimator: BudgetPruneBase) -> None:
    if estimator.estimator is None:
        return
    model = supported_model(estimator.estimator)
    # A Booster has no tags, and those of a model that was loaded may be wrong. Its trees tell.
    if hasattr(model, "__sklearn_tags__") and not isinstance(estimator.estimator, FrozenEstimator):
        estimator._check_type(get_tags(model).estimator_type, type(model).__name__)
