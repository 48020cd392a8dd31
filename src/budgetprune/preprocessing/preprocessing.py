"""`Preprocessing`: encoded features as functions of raw columns, and the raw columns that each needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable, join_first
from budgetprune.errors import InvalidInputError
from budgetprune.forest import numbers_of
from budgetprune.preprocessing.operations import (
    ZERO_IS_MISSING,
    Arithmetic,
    Column,
    Lookup,
    Operation,
)
from budgetprune.preprocessing.raw_columns import read_columns
from budgetprune.utils.arrays import frozen
from budgetprune.utils.registry import Registry

if TYPE_CHECKING:
    from budgetprune.forest import Forest


class Translator(NamedTuple):
    """Function that converts fitted transformers of a library, and a sample of raw rows, and `needs`."""

    name: str
    translate: Callable[[Any, Any, Mapping[str, Any]], Preprocessing]


TRANSLATORS: Registry[Translator] = Registry(
    "library of transformers", ("budgetprune.preprocessing.translate.translation:TRANSLATORS",)
)


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """Computation of the features of a model from raw columns.

    Columns are numbered: first the raw ones, then the outputs of the operations, in their order.

    Attributes
    ----------
    raw_names : tuple of str
        Names of the raw columns.
    has_names : bool
        Whether these are the user's names. If not, tables are read by position.
    holds_objects : tuple of bool
        Which raw columns may hold strings.
    operations : tuple of Operation
    outputs : tuple of int
        For each encoded feature, the number of its column.
    feature_names : tuple of str
        Names of the encoded features, all different.
    is_for_forest : bool
        Whether categories of the model are encoded, too; see `for_forest`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> encoder = make_pipeline(OneHotEncoder()).fit([["red", 1], ["green", 1], ["red", 2]])
    >>> encoding = Preprocessing.from_sklearn(encoder)
    >>> encoding.needs
    [[0], [0], [1], [1]]
    >>> encoding.transform([["green", 2]])
    array([[1., 0., 0., 1.]])
    """

    raw_names: tuple[str, ...]
    has_names: bool
    holds_objects: tuple[bool, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[int, ...]
    feature_names: tuple[str, ...]
    is_for_forest: bool = False

    @classmethod
    def from_sklearn(
        cls, transformer: Any, X: Any = None, *, needs: Mapping[str, Any] | None = None
    ) -> Preprocessing:
        """Convert a fitted transformer of scikit-learn, such as a ColumnTransformer or a Pipeline.

        Parameters
        ----------
        transformer : fitted transformer
        X : table, optional
            Some raw rows. The conversion is checked on them, and fails if results differ. They are needed if
            a step cannot be translated and needs only some of its inputs for an output.
        needs : mapping, optional
            For steps that cannot be traced: name of the step (such as ``"columns__dates"``) to ``"all"`` if
            each output needs all inputs of the step, ``"one-to-one"`` if it needs the input at the same
            position, or a list with the inputs of each output, by position or name.
        """
        return TRANSLATORS.find("sklearn").translate(transformer, X, {} if needs is None else needs)

    # --- What depends on what -------------------------------------------------------------------------------

    @cached_property
    def _raw_needs(self) -> list[frozenset[int]]:
        """For each column, the raw columns that it depends on."""
        found = [frozenset([k]) for k in range(len(self.raw_names))]
        for operation in self.operations:
            inputs = [found[k] for k in operation.inputs]
            found += [
                frozenset().union(*(inputs[position] for position in positions))
                for positions in operation.output_needs
            ]
        return found

    @property
    def needs(self) -> list[list[int]]:
        """For each encoded feature, the raw columns that it needs."""
        return [sorted(self._raw_needs[k]) for k in self.outputs]

    @cached_property
    def raw_labels(self) -> tuple[tuple[Any, ...] | None, ...]:
        """For each raw column, its categories; None if it holds numbers, and none if it holds any text."""
        first = len(self.raw_names)
        origin = {k: k for k in range(first)}  # of columns that are a raw one, perhaps with filled gaps
        labels: dict[int, dict[Any, None]] = {}
        has_numbers = set()
        for operation in self.operations:
            for k in operation.inputs:
                known = getattr(operation, "labels", None)
                if k in origin and known:
                    labels.setdefault(origin[k], {}).update(dict.fromkeys(known))
                elif k in origin and operation.kind not in ("fill", "indicator", "lookup"):
                    has_numbers.add(origin[k])
            if operation.kind == "fill" and operation.inputs[0] in origin:
                origin[first] = origin[operation.inputs[0]]
            first += operation.n_outputs
        has_numbers.update(origin[k] for k in self.outputs if k in origin)
        return tuple(
            tuple(label for label in labels.get(k, ()) if label is not None)
            if is_object or (k in labels and k not in has_numbers)
            else None
            for k, is_object in enumerate(self.holds_objects)
        )

    @property
    def n_features(self) -> int:
        """Number of encoded features."""
        return len(self.outputs)

    def raw_columns_of(self, features: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the raw columns that any of the given encoded features needs."""
        found = np.zeros(len(self.raw_names), dtype=np.bool_)
        for k in np.flatnonzero(features).tolist():
            found[self.needs[k]] = True
        return found

    def by_raw_column(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide an amount of each encoded feature equally among the raw columns that it needs."""
        found = np.zeros(len(self.raw_names))
        for amount, columns in zip(amounts.tolist(), self.needs, strict=True):
            found[columns] += amount / max(len(columns), 1)
        return found

    def raw_costs(self, costs: CostTable) -> CostTable:
        """Return costs of the raw columns in which free columns also need a source, with price 0.

        So raw columns and encoded features have the same sources.
        """
        price, names = costs.price.tolist(), list(costs.source_names)
        used = set(costs.needs.tolist())
        needs = []
        for k, raw in enumerate(self.raw_names):
            own = costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]].tolist()
            if not own:
                name = raw
                if name not in names or names.index(name) in used or price[names.index(name)] > 0:
                    while name in names:
                        name += " (feature)"
                    names.append(name)
                    price.append(0.0)
                own = [names.index(name)]
                used.update(own)
            needs.append(own)
        return _cost_table(price, names, needs)

    def feature_costs(self, raw_costs: CostTable) -> CostTable:
        """Return costs of the encoded features, given those of the raw columns.

        A feature needs the sources of all raw columns that it depends on.
        """
        start, flat = raw_costs.needs_start, raw_costs.needs
        needs = [
            sorted({s for k in columns for s in flat[start[k] : start[k + 1]].tolist()})
            for columns in self.needs
        ]
        return _cost_table(raw_costs.price.tolist(), list(raw_costs.source_names), needs)

    # --- Encoding -------------------------------------------------------------------------------------------

    def transform(self, X: Any, features: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Encode raw rows as numbers, of shape (n_rows, n_features).

        Parameters
        ----------
        X : table of pandas or polars, array, sparse matrix or nested lists
        features : mask of the features to compute; the others are NaN. None: all.
        """
        if features is None:
            features = np.ones(self.n_features, dtype=np.bool_)
        needed = self.raw_columns_of(features)
        columns = read_columns(X, self.raw_names, self.has_names, needed, list(self.holds_objects))
        encoded = self.encode(columns)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        found = np.full((n_rows, self.n_features), np.nan)
        for k in np.flatnonzero(features).tolist():
            column = encoded[k]
            if column is None:
                raise InvalidInputError(
                    f"feature {self.feature_names[k]!r} cannot be computed from these rows."
                )
            found[:, k] = self.numbers(column, k)
        return found

    def rows_for(self, forest: Forest, X: Any) -> NDArray[np.float64]:
        """Encode raw rows for a forest. Features that no tree tests are missing, or 0 if none may be."""
        is_used = np.isin(np.arange(forest.n_features), forest.feature)
        encoded = self.transform(X, is_used)
        if forest.missing != "forbidden":
            return encoded
        is_absent = np.isnan(encoded) & is_used
        if is_absent.any():
            row, k = np.argwhere(is_absent)[0].tolist()
            needed = join_first(repr(self.raw_names[j]) for j in self.needs[k])
            raise InvalidInputError(
                f"X has a missing value in row {row} ({is_absent.sum()} in all), in the feature "
                f"{forest.names[k]!r} that is computed from {needed}; this forest cannot route it: impute "
                "it as in training."
            )
        encoded[:, ~is_used] = 0.0
        return encoded

    def numbers(self, column: Column, k: int) -> Column:
        """Return an encoded column as numbers; raise if it holds text."""
        if column.dtype != object:
            return column
        try:
            return np.array([np.nan if each is None else float(each) for each in column.tolist()])
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"the preprocessing leaves text in {self.feature_names[k]!r} ({error}); encode that column."
            ) from error

    def encode(self, raw: Sequence[Column | None]) -> list[Column | None]:
        """Compute the features that follow from the known raw columns; None is an unknown column."""
        columns = list(raw)
        for operation, is_needed in zip(self.operations, self._is_needed, strict=True):
            inputs = [columns[k] for k in operation.inputs]
            columns += operation.apply(inputs) if is_needed else [None] * operation.n_outputs
        return [columns[k] for k in self.outputs]

    @cached_property
    def _is_needed(self) -> list[bool]:
        """Whether the features depend on each operation."""
        is_needed = set(self.outputs)
        found = []
        first = len(self.raw_names) + sum(operation.n_outputs for operation in self.operations)
        for operation in reversed(self.operations):
            first -= operation.n_outputs
            found.append(any(k in is_needed for k in range(first, first + operation.n_outputs)))
            if found[-1]:
                is_needed.update(operation.inputs)
        return found[::-1]

    # --- The forest that takes the features -----------------------------------------------------------------

    def for_forest(self, forest: Forest, *, is_sparse: bool = False) -> Preprocessing:
        """Return the preprocessing whose features are the numbers that a forest compares.

        Categories of the forest are numbered. If they are already, it returns the same preprocessing.

        Parameters
        ----------
        forest : Forest
        is_sparse : whether the model was trained on sparse matrices of the encoded features
        """
        if forest.n_features != self.n_features:
            raise InvalidInputError(
                f"the preprocessing gives {self.n_features} features, but the model takes "
                f"{forest.n_features}."
            )
        if self.is_for_forest:
            return self
        return self.with_numbered_categories(
            forest.feature_categories,
            other=forest.other_category,
            zero_is_missing=is_sparse and forest.absent_is_missing,
        )

    def with_numbered_categories(
        self,
        categories: Sequence[tuple[Any, ...] | None],
        *,
        other: str | None = None,
        zero_is_missing: bool = False,
    ) -> Preprocessing:
        """Return the preprocessing with numbers in place of categories.

        Parameters
        ----------
        categories : for each feature its categories in the order of their numbers, None for numbers
        other : category that stands for unknown ones; see `Forest`
        zero_is_missing : whether zeros of other features become missing values
        """
        operations, outputs = list(self.operations), list(self.outputs)
        size = len(self._raw_needs)
        for k, labels in enumerate(categories):
            operation: Operation | None = None
            if labels is not None:
                number, unknown = numbers_of(labels, other)
                number = {None: np.nan} | number
                place = f"column {self.feature_names[k]!r}"
                operation = Lookup((outputs[k],), tuple(number), place, (tuple(number.values()),), (unknown,))
            elif zero_is_missing:
                operation = Arithmetic((outputs[k],), ((ZERO_IS_MISSING, None),))
            if operation is not None:
                operations.append(operation)
                outputs[k], size = size, size + 1
        return replace(
            self,
            operations=tuple(operations),
            outputs=tuple(outputs),
            holds_objects=objects_of(self.raw_names, tuple(operations), self.holds_objects),
            is_for_forest=True,
        )


def objects_of(
    raw_names: tuple[str, ...], operations: tuple[Operation, ...], known: tuple[bool, ...]
) -> tuple[bool, ...]:
    """Return which raw columns may hold strings: those that some operation takes as objects.

    Parameters
    ----------
    raw_names : names of the raw columns
    operations : the operations
    known : raw columns that are known to hold strings
    """
    takes = {k for operation in operations if operation.takes_objects for k in operation.inputs}
    size = len(raw_names) + sum(operation.n_outputs for operation in operations)
    for operation in reversed(operations):
        size -= operation.n_outputs
        if operation.kind == "fill" and size in takes:
            takes.update(operation.inputs)
    return tuple(is_known or k in takes for k, is_known in enumerate(known))


def _cost_table(price: list[float], names: list[str], needs: list[list[int]]) -> CostTable:
    return CostTable(
        price=frozen(np.array(price, dtype=np.float64)),
        source_names=tuple(names),
        needs_start=frozen(np.cumsum([0, *map(len, needs)], dtype=np.int64)),
        needs=frozen(np.array([s for each in needs for s in sorted(each)], dtype=np.int32)),
    )
