"""`Builder`: collects the operations of a pipeline, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from budgetprune.costs import join_first
from budgetprune.errors import InvalidInputError
from budgetprune.preprocessing.operations import Column, Operation

# Translates a fitted transformer, given the numbers of its input columns, and returns those of its outputs.
Handler = Callable[["Builder", str, Any, list[int], bool], list[int]]


class Builder:
    """Operations so far, and their results for some sample rows.

    Parameters
    ----------
    raw_names : names of the raw columns
    sample : sample of the raw columns, or None
    needs : what the user says about steps that cannot be traced
    find_handler : function that returns the handler for a transformer
    add_traced : handler for a step in `needs`
    """

    def __init__(
        self,
        raw_names: Sequence[str],
        sample: list[Column] | None,
        needs: Mapping[str, Any],
        find_handler: Callable[[Any], Handler | None],
        add_traced: Handler,
    ) -> None:
        self.operations: list[Operation] = []
        self.names: list[str] = list(raw_names)
        self.needs = needs
        self.sample: list[Column | None] | None = None if sample is None else list(sample)
        self.used_needs: set[str] = set()
        self._find_handler, self._add_traced = find_handler, add_traced

    def add(self, operation: Operation, names: Sequence[str] | None = None) -> list[int]:
        """Add an operation; return the numbers of its outputs."""
        first = len(self.names)
        self.operations.append(operation)
        given = [self.names[operation.inputs[0]]] * operation.n_outputs if names is None else names
        self.names += given
        if self.sample is not None:
            self.sample += operation.apply([self.sample[k] for k in operation.inputs])
        return list(range(first, len(self.names)))

    def sample_of(self, columns: Sequence[int]) -> list[Column] | None:
        """Return sample rows of columns."""
        if self.sample is None:
            return None
        found = [self.sample[k] for k in columns]
        return [column for column in found if column is not None]

    def place(self, column: int, step: str) -> str:
        """Describe a column and a step for messages."""
        return f"column {self.names[column]!r} (step {step!r})"

    def step(self, name: str, transformer: Any, inputs: list[int], is_flat: bool = False) -> list[int]:
        """Translate a transformer; return the numbers of the columns that it computes."""
        if isinstance(transformer, FrozenEstimator):
            transformer = transformer.estimator
        if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
            return inputs
        if isinstance(transformer, str):  # "drop"
            return []
        name = name or type(transformer).__name__
        handler = self._find_handler(transformer)
        if name in self.needs:
            self.used_needs.add(name)
            return self._add_traced(self, name, transformer, inputs, is_flat)
        if handler is None:
            raise untraceable(name, transformer)
        check_is_fitted(transformer)
        n_expected = getattr(transformer, "n_features_in_", len(inputs))
        if n_expected != len(inputs):
            raise InvalidInputError(
                f"step {name!r} ({type(transformer).__name__}) takes {n_expected} columns, but gets "
                f"{len(inputs)}."
            )
        return handler(self, name, transformer, inputs, is_flat)

    def check_needs(self) -> None:
        """Raise if `needs` names a step that does not exist."""
        unknown = [repr(name) for name in self.needs if name not in self.used_needs]
        if unknown:
            raise InvalidInputError(
                f"needs names steps that the pipeline does not have: {join_first(unknown)}; write names of "
                "steps as in pipeline.get_params(), such as 'columns__dates'."
            )


def untraceable(name: str, transformer: Any, why: str = "") -> InvalidInputError:
    """Return the error for a transformer whose outputs cannot be traced to inputs."""
    kind = type(transformer).__name__
    return InvalidInputError(
        f"step {name!r} ({kind}) cannot be traced{why}: which of its inputs each of its outputs needs is not "
        f"known. Say so with needs={{{name!r}: 'all'}} if each output needs all inputs of the step, "
        "'one-to-one' if each output needs the input at the same position, or a list with the inputs (names "
        "or positions) of each output."
    )
