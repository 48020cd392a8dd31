"""The gate for parameters: what cannot work is refused before any work starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from budgetprune.errors import InvalidInputError
from budgetprune.problem._checks import at_least_zero
from budgetprune.problem._errors import Estimate
from budgetprune.solvers import SOLVERS

if TYPE_CHECKING:
    from budgetprune.estimators._base import BudgetPruneBase


def check_parameters(estimator: BudgetPruneBase) -> None:
    """Raise unless the parameters of an estimator make sense together."""
    if estimator.budget is not None and estimator.lam is not None:
        raise InvalidInputError("give a budget or a lam, not both: each of them picks one point of the path.")
    for name in ("budget", "lam"):
        if getattr(estimator, name) is not None:
            at_least_zero(getattr(estimator, name), name)
    _one_of("error", estimator.error, ("auto", *get_args(Estimate)))
    _one_of("refit", estimator.refit, ("auto", "squared", "softmax", "own", None))
    _one_of("solver", estimator.solver, tuple(SOLVERS))
    if not (isinstance(estimator.ridge, str) and estimator.ridge == "auto"):
        at_least_zero(estimator.ridge, "ridge")
    if estimator.solver != "parametric" and estimator.lam is None:
        raise InvalidInputError(
            f"solver={estimator.solver!r} solves for one lam at a time: give lam=..., or use 'parametric', "
            "which knows the whole path."
        )


def _one_of(name: str, value: Any, options: tuple[Any, ...]) -> None:
    if value not in options:
        raise InvalidInputError(f"{name}={value!r} is unknown; use {', '.join(map(repr, options))}.")
