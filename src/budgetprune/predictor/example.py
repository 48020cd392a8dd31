"""`Example`: state of one example during acquisition."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING
from budgetprune.errors import AcquisitionError, InvalidAnswerError, InvalidInputError
from budgetprune.predictor.bounds import StepResult
from budgetprune.predictor.decision import Decision
from budgetprune.predictor.engine import DECIDED, Engine


class Example:
    """Known values, paid sources and unavailable sources of one example.

    A source is *requested* (and paid for), and then it *arrives*. A value may arrive early, in one mapping
    with others. It counts as known once all sources of its feature have arrived, and cannot change after
    that. A source is requested again if it did not return all values, or if its request was withdrawn. It is
    paid for once.

    Parameters
    ----------
    engine : Engine
    known : mapping from features to values, or None
        Free values; the sources that they need are free as well.
    cost_limit : float
        Cost limit.
    """

    def __init__(self, engine: Engine, known: Mapping[str, Any] | None, cost_limit: float) -> None:
        self.engine = engine
        n_features, n_sources = len(engine.values.names), engine.price.size
        self._row = engine.values.empty_row()
        self._has_value = np.zeros(n_features, dtype=np.bool_)
        self._is_known = np.zeros(n_features, dtype=np.bool_)
        self._is_requested = np.zeros(n_sources, dtype=np.bool_)
        self._has_arrived = np.zeros(n_sources, dtype=np.bool_)
        self._is_available = np.ones(n_sources, dtype=np.bool_)
        self._price = engine.price  # still to be paid
        self._cost_limit = cost_limit
        self._cost = 0.0
        self._order: list[int] = []
        if known is not None:
            self._take(known, "known", is_paid=False)

    # --- Input ----------------------------------------------------------------------------------------------

    def take_paid(self, values: Mapping[str, Any]) -> None:
        """Store paid values; all sources that they need count as paid."""
        self._take(values, "values", is_paid=True)

    def _take(self, values: Mapping[str, Any], what: str, is_paid: bool) -> None:
        for k in self._write(values, what):
            for s in self.engine.needs(k).tolist():
                if is_paid:
                    self.request(s)
                else:
                    self._make_free(s)
                self._is_requested[s] = self._has_arrived[s] = True
            self._is_known[k] = True
        if self.engine.has_shared_sources:
            self._reopen()

    def _reopen(self) -> None:
        """Allow free repeated requests for arrived sources that did not return all values."""
        engine = self.engine
        lacks_value = engine.known_from(self._has_arrived) & engine.is_used & ~self._has_value
        for k in np.flatnonzero(lacks_value).tolist():
            # The source that the fewest other features need.
            self.withdraw(min(engine.needs(k).tolist(), key=lambda s: engine.gives(s).size))

    def request(self, s: int, *, is_named: bool = False) -> None:
        """Pay for a source, once. A free source is recorded only if the caller names it."""
        if self._is_requested[s]:
            return
        self._is_requested[s] = True
        price = float(self._price[s])
        self._cost += price
        if price > 0 or is_named:
            self._order.append(s)

    def withdraw(self, s: int) -> None:
        """Withdraw a request. Its price stays charged, so the next request is free."""
        self._is_requested[s] = self._has_arrived[s] = False
        self._make_free(s)

    def _make_free(self, s: int) -> None:
        if self._price is self.engine.price:
            self._price = self._price.copy()
        self._price[s] = 0.0

    def receive(self, s: int, fetched: Any) -> None:
        """Store the result of a source: a value, a mapping from features to values, or None."""
        try:
            self._receive(s, fetched)
        except InvalidInputError as error:
            raise self.invalid_result(s, error) from error

    def _receive(self, s: int, fetched: Any) -> None:
        names, gives = self.engine.values.names, self.engine.gives(s).tolist()
        source = self.engine.source_names[s]
        if isinstance(fetched, Mapping):
            self._write(fetched, f"the result of {source!r}")
        elif len(gives) == 1 and (fetched is not None or len(self.engine.needs(gives[0])) == 1):
            self._write({names[gives[0]]: fetched}, "")
        elif fetched is not None:
            raise InvalidInputError(
                f"{source!r} returned a single value, but several features need that source "
                f"({', '.join(repr(names[k]) for k in gives)}): return a mapping from features to values."
            )
        self.arrive(s)

    def arrive(self, s: int) -> None:
        """Mark a source as arrived; all features whose sources have arrived must have a value."""
        self._is_requested[s] = self._has_arrived[s] = True
        for k in self.engine.gives(s).tolist():
            if self._has_arrived[self.engine.needs(k)].all():
                if not self._has_value[k] and self.engine.is_used[k]:
                    raise InvalidInputError(
                        f"there is no value for {self.engine.values.names[k]!r}, although all sources that "
                        f"it needs have been acquired (last {self.engine.source_names[s]!r}); return one, "
                        "None if it is missing."
                    )
                self._is_known[k] = self._has_value[k]

    def mark_unavailable(self, s: int) -> None:
        """Mark a source as unavailable; its price stays charged."""
        self._is_available[s] = False
        self._is_requested[s] = self._has_arrived[s]

    def _write(self, values: Mapping[str, Any], what: str) -> list[int]:
        read = self.engine.values.read_named(values, what)
        for k, number in read:
            if not self._is_known[k]:
                self._row[k], self._has_value[k] = number, True
        return [k for k, _ in read]

    # --- Output ---------------------------------------------------------------------------------------------

    def next_source(self) -> int | None:
        """Return the index of the source to request next, if any."""
        source = int(self._result().source)
        return source if source >= 0 else None

    def status(self) -> tuple[bool, int | None, NDArray[np.bool_]]:
        """Return whether it is decided, the next source, and a mask of the sources that trees wait for."""
        result = self._result()
        return result.why in DECIDED, (int(result.source) if result.source >= 0 else None), result.is_wanted

    def finish(self, values: Mapping[str, Any]) -> Decision:
        """Look up needed values until it is decided; other values are not validated."""
        self._take_free(values)
        while (s := self.next_source()) is not None:
            self.request(s)
            try:
                found = self._found(values, s)
            except Exception as error:
                raise self.error(s, error) from error
            self.receive(s, found)
        return self.decision()

    def _take_free(self, values: Mapping[str, Any]) -> None:
        """Store valid free values from the start, as `Engine.simulate` does."""
        engine = self.engine
        self._is_requested |= engine.is_free
        self._has_arrived |= engine.is_free
        is_due = engine.known_from(self._has_arrived) & engine.is_used & ~self._is_known
        for k in np.flatnonzero(is_due).tolist():
            name = engine.values.names[k]
            with suppress(Exception):  # if a tree needs it, it is requested again and fails then
                if name in values:
                    self._write({name: values[name]}, "")
            self._is_known[k] = self._has_value[k]
        self._reopen()

    def _found(self, values: Mapping[str, Any], s: int) -> dict[str, Any]:
        names = [self.engine.values.names[k] for k in self.engine.gives(s).tolist() if self.engine.is_used[k]]
        return {name: values[name] for name in names if name in values}

    def decision(self) -> Decision:
        """Return the current decision."""
        return self.engine.decision(self._row, self._result(), self._price, self._cost, self._order)

    def error(self, s: int, cause: BaseException) -> AcquisitionError:
        """Return the error for a failed source, which becomes unavailable."""
        return self._error(AcquisitionError, "could not be fetched", s, cause)

    def invalid_result(self, s: int, cause: InvalidInputError) -> AcquisitionError:
        """Return the error for a source that returned an invalid value."""
        return self._error(InvalidAnswerError, "returned an invalid value", s, cause)

    def with_current_decision(self, error: AcquisitionError) -> AcquisitionError:
        """Return the same error with the current decision."""
        return type(error)(str(error), error.source, self.decision())

    def _error(
        self, kind: type[AcquisitionError], what: str, s: int, cause: BaseException
    ) -> AcquisitionError:
        self._has_arrived[s] = False
        self.mark_unavailable(s)
        source = self.engine.source_names[s]
        message = (
            f"{source!r} {what} ({type(cause).__name__}: {cause}); the error's `decision` is the last one "
            "before the failure."
        )
        return kind(message, source, self.decision())

    def _result(self) -> StepResult:
        return self.engine.run(
            self._row,
            self._is_known,
            self._is_requested,
            self._is_available,
            self._price,
            max(self._cost_limit * ROUNDING - self._cost, 0.0),
        )
