"""The service without HTTP: parsed JSON in, JSON-serializable answers out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from budgetprune.costs import join_first
from budgetprune.errors import InvalidInputError
from budgetprune.predictor import BudgetPredictor, Decision
from budgetprune.service.bodies import (
    Body,
    as_object,
    check_fields,
    cost_limit_of,
    sources_of,
    values_of,
)
from budgetprune.service.errors import INVALID, RefusedError
from budgetprune.service.model_description import ModelDescription, to_json_value

Answer = dict[str, Any]
HandleRequest = Callable[[Any, str], Answer]

STEP = frozenset({"values", "known", "acquired", "unavailable", "max_cost"})
DECIDE = frozenset({"values", "max_cost"})


class RequestHandler:
    """Answer requests about single examples.

    Parameters
    ----------
    predictor : BudgetPredictor
    description : ModelDescription
        Description of this predictor.
    """

    def __init__(self, predictor: BudgetPredictor, description: ModelDescription) -> None:
        self._predictor, self._description = predictor, description
        features = description.features.values()
        self._used = frozenset(feature.name for feature in features if feature.is_used)
        self._n_sources = len(description.sources)

    def step(self, body: Any, where: str) -> Answer:
        """Return the decision for the given values, or the next source to acquire."""
        check_fields(as_object(body, where), STEP, "values", where)
        acquired = sources_of(body, "acquired", where, self._n_sources)
        values, known = values_of(body, "values", where) or {}, values_of(body, "known", where)
        try:
            decision = self._predictor.step(
                values,
                known=known,
                acquired=acquired,
                unavailable=sources_of(body, "unavailable", where, self._n_sources),
                max_cost=cost_limit_of(body, where),
            )
        except InvalidInputError as error:
            raise RefusedError(INVALID, str(error), where) from None
        answer = self._answer(decision, _in_client_order(decision.acquired, acquired))
        return self._with_warnings(answer, values if known is None else known | values)

    def decide(self, body: Any, where: str) -> Answer:
        """Return the decision for a complete row and the sources it would have acquired."""
        check_fields(as_object(body, where), DECIDE, "values", where)
        values = body["values"]
        max_cost = cost_limit_of(body, where)
        try:
            if not self._are_all_numbers(values):
                self._check_complete(values_of(body, "values", where) or {})
            decision = self._predictor.decide(values, max_cost=max_cost)
        except InvalidInputError as error:
            raise RefusedError(INVALID, str(error), where) from None
        return self._with_warnings(self._answer(decision, list(decision.acquired)), values)

    def _are_all_numbers(self, values: Any) -> bool:
        """Whether there is a valid number for each feature, and nothing else; the usual case, in one pass."""
        if type(values) is not dict or len(values) != len(self._description.features):
            return False
        return self._predictor._engine.values.read_all(values) is not None

    def _check_complete(self, values: Body) -> None:
        """Reject invalid values, including those that the decision does not need.

        The predictor checks only the values it reads, so the same error would be reported for some rows and
        not for others.
        """
        if not self._used <= values.keys():
            absent = [name for name in self._description.features if name in self._used - values.keys()]
            raise InvalidInputError(
                f"there is no value for {join_first(map(repr, absent))}; complete rows need one for every "
                "feature that the model uses (null if it is missing)."
            )
        self._predictor.step(values)  # validates every value

    def _with_warnings(self, answer: Answer, values: Body) -> Answer:
        """Add `warnings` to an answer if values are categories that the model does not know."""
        unknown = self._predictor._engine.values.unknown_categories(values)
        if unknown:
            answer["warnings"] = [
                f"the value of {name!r} is a category that the model does not know; it counts as {counts_as}."
                for name, counts_as in unknown.items()
            ]
        return answer

    def _answer(self, decision: Decision, acquired: list[str]) -> Answer:
        source = None if decision.next is None else self._description.sources[decision.next]
        names = self._description.class_names
        lower, upper = decision.lower.tolist(), decision.upper.tolist()
        probabilities = decision.probabilities
        return {
            "decided": decision.decided,
            "reason": decision.reason,
            "label": _finite(float(decision.label)) if names is None else to_json_value(decision.label),
            "probabilities": _by_class(names, None if probabilities is None else probabilities.tolist()),
            "lower": _finite(lower[0]) if names is None else _by_class(names, lower),
            "upper": _finite(upper[0]) if names is None else _by_class(names, upper),
            "cost": decision.cost,
            "acquired": acquired,
            "next": decision.next,
            "next_cost": None if decision.next is None else decision.next_cost,
            "next_features": () if source is None else source.features,
        }


def _by_class(names: list[str] | None, numbers: list[float] | None) -> dict[str, float] | None:
    return None if names is None or numbers is None else dict(zip(names, numbers, strict=True))


def _finite(number: float) -> float | None:
    """Return None for infinity, which an exponential link can give and JSON lacks."""
    return number if math.isfinite(number) else None


def _in_client_order(acquired: Iterable[str], given: list[str]) -> list[str]:
    """Sort acquired sources in the order given by the client; others come last."""
    if not given:
        return list(acquired)
    place = {name: i for i, name in reversed(list(enumerate(given)))}
    return sorted(acquired, key=lambda name: place.get(name, len(given)))
