"""`Example`: one example while its sources come in."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING
from budgetprune.errors import AcquisitionError, InvalidAnswerError, InvalidInputError
from budgetprune.predictor.bounds import Told
from budgetprune.predictor.decision import Decision
from budgetprune.predictor.engine import DECIDED, Engine


class Example:
    """What is known about one example, what was paid for it, and what cannot be had.

    A source is *requested* (and paid for), and then it *arrives*. A value may come early, in one mapping with
    others; it counts as known only once all sources that its feature needs have arrived, and stays as it is
    from then on. A source may have to be requested again, if it did not give all that it can, or if its
    request was withdrawn; it is paid for once.

    Parameters
    ----------
    engine : Engine
    known : mapping from features to values, or None
        Known for free, as are the sources that they need.
    money : float
        What may be spent.
    """

    def __init__(self, engine: Engine, known: Mapping[str, Any] | None, money: float) -> None:
        self.engine = engine
        n_features, n_sources = engine.forest.n_features, engine.sources.price.size
        self._row = np.zeros(n_features, dtype=engine.values.dtype)
        self._has_value = np.zeros(n_features, dtype=np.bool_)
        self._is_known = np.zeros(n_features, dtype=np.bool_)
        self._is_requested = np.zeros(n_sources, dtype=np.bool_)
        self._has_arrived = np.zeros(n_sources, dtype=np.bool_)
        self._is_available = np.ones(n_sources, dtype=np.bool_)
        self._sources = engine.sources  # with the prices that are still to be paid
        self._money = money
        self._cost = 0.0
        self._order: list[int] = []
        if known is not None:
            self._take(known, "known", is_paid=False)

    # --- What comes in --------------------------------------------------------------------------------------

    def take_paid(self, values: Mapping[str, Any]) -> None:
        """Take values that were paid for, with all the sources that they need."""
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
        """Make sources open to requests again, at no cost, that are there but did not give all values."""
        engine = self.engine
        is_kept_back = engine.known_from(self._has_arrived) & engine.is_used & ~self._has_value
        for k in np.flatnonzero(is_kept_back).tolist():
            # The one that fewest other features need.
            self.withdraw(min(engine.needs(k).tolist(), key=lambda s: engine.gives(s).size))

    def request(self, s: int, *, is_named: bool = False) -> None:
        """Pay for a source, once. One that costs nothing is only remembered if somebody names it."""
        if self._is_requested[s]:
            return
        self._is_requested[s] = True
        price = float(self._sources.price[s])
        self._cost += price
        if price > 0 or is_named:
            self._order.append(s)

    def withdraw(self, s: int) -> None:
        """Take a request back. What was paid is gone, so the next request costs nothing."""
        self._is_requested[s] = self._has_arrived[s] = False
        self._make_free(s)

    def _make_free(self, s: int) -> None:
        if self._sources is self.engine.sources:
            self._sources = self._sources._replace(price=self._sources.price.copy())
        self._sources.price[s] = 0.0

    def receive(self, s: int, fetched: Any) -> None:
        """Take what a source gave: a value, a mapping from features to values, or nothing."""
        try:
            self._receive(s, fetched)
        except InvalidInputError as error:
            raise self.mistake(s, error) from error

    def _receive(self, s: int, fetched: Any) -> None:
        names, gives = self.engine.values.names, self.engine.gives(s).tolist()
        source = self.engine.source_names[s]
        if isinstance(fetched, Mapping):
            self._write(fetched, f"what came for {source!r}")
        elif len(gives) == 1 and (fetched is not None or len(self.engine.needs(gives[0])) == 1):
            self._write({names[gives[0]]: fetched}, "")
        elif fetched is not None:
            raise InvalidInputError(
                f"a single value came for {source!r}, but several features need that source "
                f"({', '.join(repr(names[k]) for k in gives)}): return a mapping from features to values."
            )
        self.arrive(s)

    def arrive(self, s: int) -> None:
        """Mark a source as there; all features that miss no other must have a value by now."""
        self._is_requested[s] = self._has_arrived[s] = True
        for k in self.engine.gives(s).tolist():
            if self._has_arrived[self.engine.needs(k)].all():
                if not self._has_value[k] and self.engine.is_used[k]:
                    raise InvalidInputError(
                        f"there is no value for {self.engine.values.names[k]!r}, though all that it needs "
                        f"has been acquired, last {self.engine.source_names[s]!r}; give one (None if it is "
                        "missing)."
                    )
                self._is_known[k] = self._has_value[k]

    def give_up(self, s: int) -> None:
        """Mark a source that cannot be had; what was paid for it is gone."""
        self._is_available[s] = False
        self._is_requested[s] = self._has_arrived[s]

    def _write(self, values: Mapping[str, Any], what: str) -> list[int]:
        read = self.engine.values.read_named(values, what)
        for k, number in read:
            if not self._is_known[k]:
                self._row[k], self._has_value[k] = number, True
        return [k for k, _ in read]

    # --- What goes out --------------------------------------------------------------------------------------

    def next_source(self) -> int | None:
        """Number of the source to request next, if any."""
        source = int(self._look().source)
        return source if source >= 0 else None

    def outlook(self) -> tuple[bool, int | None, NDArray[np.bool_]]:
        """Whether it is decided, the source to request next, and a mask of those that some tree waits for."""
        told = self._look()
        return told.why in DECIDED, (int(told.source) if told.source >= 0 else None), told.is_wanted

    def finish(self, values: Mapping[str, Any]) -> Decision:
        """Look up what is needed until it is decided; other values do not even have to make sense."""
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
        """Take from the start what has no price, as `Engine.simulate` does, if it makes sense."""
        engine = self.engine
        self._is_requested |= engine.is_free
        self._has_arrived |= engine.is_free
        is_due = engine.known_from(self._has_arrived) & engine.is_used & ~self._is_known
        for k in np.flatnonzero(is_due).tolist():
            name = engine.values.names[k]
            with suppress(Exception):  # it is asked for again, and fails then, if a tree comes to need it
                if name in values:
                    self._write({name: values[name]}, "")
            self._is_known[k] = self._has_value[k]
        self._reopen()

    def _found(self, values: Mapping[str, Any], s: int) -> dict[str, Any]:
        names = [self.engine.values.names[k] for k in self.engine.gives(s).tolist() if self.engine.is_used[k]]
        return {name: values[name] for name in names if name in values}

    def decision(self) -> Decision:
        """What is known now."""
        return self.engine.decision(self._row, self._look(), self._sources, self._cost, self._order)

    def error(self, s: int, cause: BaseException) -> AcquisitionError:
        """What to raise if a source fails, which it does for good."""
        return self._error(AcquisitionError, "could not be fetched", s, cause)

    def mistake(self, s: int, cause: InvalidInputError) -> AcquisitionError:
        """What to raise if a source gives what makes no sense."""
        return self._error(InvalidAnswerError, "gave something else than it should", s, cause)

    def again(self, mistake: AcquisitionError) -> AcquisitionError:
        """The same mistake, with all that was learned until now."""
        return type(mistake)(str(mistake), mistake.source, self.decision())

    def _error(
        self, kind: type[AcquisitionError], what: str, s: int, cause: BaseException
    ) -> AcquisitionError:
        self._has_arrived[s] = False
        self.give_up(s)
        source = self.engine.source_names[s]
        message = (
            f"{source!r} {what} ({type(cause).__name__}: {cause}); the error's `decision` says what was "
            "learned before."
        )
        return kind(message, source, self.decision())

    def _look(self) -> Told:
        return self.engine.run(
            self._row,
            self._is_known,
            self._is_requested,
            self._is_available,
            self._sources,
            max(self._money * ROUNDING - self._cost, 0.0),
            n_steps=0,
        )
