"""Transformers that are made of others: Pipeline, ColumnTransformer, FeatureUnion."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.preprocessing.operations import Arithmetic
from budgetprune.preprocessing.translate.builder import Builder


def pipeline(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate the steps of a Pipeline, one after the other."""
    for step, each in transformer.steps:
        inputs, is_flat = builder.step(_join(name, step, transformer), each, inputs, is_flat), False
    return inputs


def column_transformer(
    builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool
) -> list[int]:
    """Translate each transformer of a ColumnTransformer for its columns, in the order of its outputs."""
    del is_flat
    found = []
    weights = transformer.transformer_weights or {}
    for step, each, columns in transformer.transformers_:
        if isinstance(each, str) and each == "drop":
            continue
        positions = column_positions(columns, transformer)
        if not positions:
            continue
        is_scalar = isinstance(columns, str | int | np.integer) and not isinstance(columns, bool)
        own = builder.step(_join(name, step, transformer), each, [inputs[k] for k in positions], is_scalar)
        found += _weighted(builder, own, weights.get(step))
    return found


def feature_union(
    builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool
) -> list[int]:
    """Translate each transformer of a FeatureUnion for all columns."""
    found = []
    weights = transformer.transformer_weights or {}
    for step, each in transformer.transformer_list:
        own = builder.step(_join(name, step, transformer), each, inputs, is_flat)
        found += _weighted(builder, own, weights.get(step))
    return found


def _weighted(builder: Builder, columns: list[int], weight: float | None) -> list[int]:
    if weight is None:
        return columns
    return [k for each in columns for k in builder.add(Arithmetic((each,), (("multiply", float(weight)),)))]


def _join(name: str, step: str, transformer: Any) -> str:
    """Name of a step, as in `get_params` of the outermost pipeline."""
    return step if name in ("", type(transformer).__name__) else f"{name}__{step}"


def column_positions(columns: Any, transformer: Any) -> list[int]:
    """Return the positions of the columns that a fitted ColumnTransformer gives to one of its steps."""
    names = {name: k for k, name in enumerate(getattr(transformer, "feature_names_in_", ()))}
    size = transformer.n_features_in_
    if callable(columns):
        raise InvalidInputError(
            "a ColumnTransformer selects columns by a function that was not resolved; fit it."
        )
    if isinstance(columns, slice):
        start, stop = (
            names[end] + is_stop if isinstance(end, str) else end
            for end, is_stop in ((columns.start, 0), (columns.stop, 1))
        )
        return list(range(size))[slice(start, stop, columns.step)]
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    columns = list(columns)
    if columns and all(isinstance(each, bool | np.bool_) for each in columns):
        return [k for k, is_taken in enumerate(columns) if is_taken]
    return [names[each] if isinstance(each, str) else int(each) % size for each in columns]
