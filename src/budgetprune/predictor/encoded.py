"""Engine of a model whose features are computed from raw columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.predictor.bounds import StepResult
from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.source_index import SourceIndex
from budgetprune.predictor.values import Values, read_number
from budgetprune.preprocessing import PricedPreprocessing, is_missing

_DOUBLE = np.dtype(np.float64)


class RawValues(Values):
    """Reader of raw values by name. A value is a column of one row; an unknown one is None.

    Parameters
    ----------
    inner : SourceIndex
        Engine of the encoded features.
    priced : PricedPreprocessing
    """

    def __init__(self, inner: SourceIndex, priced: PricedPreprocessing) -> None:
        self.preprocessing = priced.preprocessing
        self.names = self.preprocessing.raw_names
        self.column = {name: k for k, name in enumerate(self.names)}
        self._inner = inner
        self._labels = [
            None if labels is None else frozenset(labels) for labels in self.preprocessing.raw_labels
        ]

    def empty_row(self) -> Any:
        """Return a row without known values."""
        return [None] * len(self.names)

    def read(self, k: int, value: Any) -> Any:
        """Convert one value to a column of one row, or raise InvalidInputError."""
        name = self.names[k]
        if self.preprocessing.holds_objects[k]:
            column = np.empty(1, dtype=object)
            try:
                column[0] = (
                    None if is_missing(value) else value.item() if isinstance(value, np.generic) else value
                )
                hash(column[0])
            except TypeError:
                raise InvalidInputError(
                    f"the value of {name!r} must be a category, not a {type(value).__name__}."
                ) from None
        else:
            column = np.array([read_number(name, value, _DOUBLE)])
        row = self.empty_row()
        row[k] = column
        self.encode(row)  # raises if a feature cannot take the value
        return column

    def encode(self, row: list[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the features that follow from known values, as trees compare them, and which are known."""
        inner = self._inner
        encoded = np.zeros(inner.forest.n_features)
        is_known = np.zeros(inner.forest.n_features, dtype=np.bool_)
        for k, column in enumerate(self.preprocessing.encode(row)):
            if column is None:
                continue
            is_known[k] = True
            if inner.is_used[k]:
                encoded[k] = inner.values.read_encoded(k, self.preprocessing.numbers(column, k)[0])
        return encoded, is_known

    def unknown_categories(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return the columns of valid values whose category is unknown, and the meaning of the value."""
        found = {}
        for name, value in values.items():
            labels = self._labels[self.column_of(name)]
            if labels and not is_missing(value) and value not in labels:
                found[name] = "unknown"
        return found

    def read_all(self, values: Mapping[str, Any]) -> NDArray[np.float64] | None:
        """Encode a complete row in one step; return None if a value is absent or invalid."""
        if type(values) is not dict:
            return None
        try:
            if not all(name in values for name in self.names):
                return None
            row = [self._plain(k, values[name]) for k, name in enumerate(self.names)]
            return self.encode(row)[0]
        except InvalidInputError:
            return None

    def _plain(self, k: int, value: Any) -> Any:
        if self.preprocessing.holds_objects[k]:
            column = np.empty(1, dtype=object)
            column[0] = None if is_missing(value) else value
            return column
        return np.array([read_number(self.names[k], value, _DOUBLE)])


class EncodedEngine(SourceIndex):
    """Acquire raw values, and decide from the features that follow from them.

    It has the interface of an engine, with raw columns in place of features.

    Parameters
    ----------
    inner : Engine
        Engine of the encoded features, with the same sources.
    priced : PricedPreprocessing
    forest : Forest
        What its trees test is computed for many rows; the trees of the engine may test more.
    """

    def __init__(self, inner: Any, priced: PricedPreprocessing, forest: Forest) -> None:
        self.inner, self.preprocessing = inner, priced.preprocessing
        self._tested = forest
        super().__init__(
            inner.forest,
            priced.raw_costs,
            values=RawValues(inner, priced),
            is_used=priced.preprocessing.raw_columns_of(inner.is_used),
        )
        # Features that need no raw column at all have a source of their own in the inner engine.
        self._n_more = inner.price.size - self.price.size

    def _all(self, by_source: NDArray[Any], more: Any) -> NDArray[Any]:
        """Extend an array by the additional sources of the inner engine."""
        return (
            np.append(by_source, np.full(self._n_more, more, by_source.dtype)) if self._n_more else by_source
        )

    def run(
        self,
        row: Any,
        known: NDArray[np.bool_],
        acquired: NDArray[np.bool_],
        is_available: NDArray[np.bool_],
        price: NDArray[np.float64],
        cost_limit: float,
    ) -> StepResult:
        """Decide one example from its known raw values, or choose its next source."""
        given = [value if is_known else None for value, is_known in zip(row, known.tolist(), strict=True)]
        encoded, is_feature_known = self.values.encode(given)  # type: ignore[attr-defined]
        result: StepResult = self.inner.run(
            encoded,
            is_feature_known,
            self._all(acquired, True),
            self._all(is_available, True),
            self._all(price, 0.0),
            cost_limit,
        )
        return result._replace(is_wanted=result.is_wanted[: self.price.size])

    def finish(self, row: NDArray[np.float64], cost_limit: float) -> Decision:
        """Decide one example whose values are all given, as encoded features."""
        decision: Decision = self.inner.finish(row, cost_limit)
        return decision

    def decision(
        self, row: Any, result: StepResult, price: NDArray[np.float64], cost: float, order: list[int]
    ) -> Decision:
        """Build a `Decision` from the result of `run`."""
        encoded, _ = self.values.encode(row)  # type: ignore[attr-defined]
        found: Decision = self.inner.decision(encoded, result, self._all(price, 0.0), cost, order)
        return found

    def simulate(self, X: Any, at_hand: NDArray[np.bool_], cost_limit: float) -> Simulation:
        """Simulate acquisition for many raw rows; see `BudgetPredictor.simulate`."""
        rows = self.preprocessing.rows_for(self._tested, X)
        found: Simulation = self.inner.simulate(rows, self._all(at_hand, True), cost_limit)
        return found

    def answers(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return labels or targets, from scores."""
        found: NDArray[Any] = self.inner.answers(scores)
        return found
