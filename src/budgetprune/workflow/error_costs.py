"""Error costs by class name, as the option --error-cost gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from budgetprune.costs import join_first
from budgetprune.errors import InvalidInputError
from budgetprune.workflow.tables import Target, argument, flag

_NAME = argument("error_costs")


@dataclass(frozen=True)
class ErrorCosts:
    """Cost of wrong predictions, by the name of the true class.

    Parameters
    ----------
    by_class : mapping of str to float
        Class name to the cost of an error on a row of that class.
    others : float, optional
        Cost for all other classes; for regression, of a unit of squared error.
    """

    by_class: Mapping[str, float] = field(default_factory=dict)
    others: float | None = None

    def resolve(self, target: Target) -> Any:
        """Return the error costs for `BudgetClassifier` and `BudgetRegressor`."""
        if not any([self.others, *self.by_class.values()]):
            raise InvalidInputError(f"{_NAME}: at least one kind of error must cost more than 0.")
        if target.task == "regression":
            if self.by_class:
                name, price = next(iter(self.by_class.items()))
                raise InvalidInputError(
                    f"{_NAME} {name}={price:g}: the target holds numbers, not classes; give one number, "
                    "the price of a unit of squared error."
                )
            return self.others
        labels = {str(label): label for label in np.unique(target.y).tolist()}
        if unknown := [name for name in self.by_class if name not in labels]:
            raise InvalidInputError(
                f"{_NAME} is for the class {unknown[0]!r}, which the target does not have; its classes "
                f"are {join_first(map(repr, labels))}."
            )
        if not self.by_class:
            return self.others
        without = [name for name in labels if name not in self.by_class]
        if without and self.others is None:
            option = flag("error_costs")
            raise InvalidInputError(
                f"{_NAME} has no cost for the class {without[0]!r}; add one ({option} {without[0]}=NUMBER), "
                f"or one for all other classes ({option} NUMBER)."
            )
        prices = dict.fromkeys(labels, self.others) | dict(self.by_class)
        return {label: prices[name] for name, label in labels.items()}


def resolve_error_costs(error_costs: Any, target: Target) -> Any:
    """Return error costs as the staged estimators take them; None if there are none."""
    return error_costs.resolve(target) if isinstance(error_costs, ErrorCosts) else error_costs
