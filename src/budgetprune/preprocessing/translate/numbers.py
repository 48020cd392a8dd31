"""Transformers of numbers: scalers, imputers, bins, powers and products, selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune.preprocessing.operations import (
    FUNCTIONS,
    Arithmetic,
    Bins,
    Fill,
    Indicator,
    Label,
    Lookup,
    OneHot,
    Product,
)
from budgetprune.preprocessing.raw_columns import is_missing, plain_value
from budgetprune.preprocessing.translate.builder import Builder, untraceable
from budgetprune.preprocessing.translate.external import add_external, one_to_one

# Attributes of scalers: names of the steps, and of the arrays with their operands.
_SCALERS = {
    "StandardScaler": (("subtract", "mean_", "with_mean"), ("divide", "scale_", "with_std")),
    "RobustScaler": (("subtract", "center_", "with_centering"), ("divide", "scale_", "with_scaling")),
    "MaxAbsScaler": (("divide", "scale_", None),),
    "MinMaxScaler": (("multiply", "scale_", None), ("add", "min_", None)),
}


def scaler(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate a scaler: one or two steps of arithmetic per column."""
    del name, is_flat
    found = []
    for j, column in enumerate(inputs):
        steps = [
            (step, float(getattr(transformer, attribute)[j]))
            for step, attribute, switch in _SCALERS[type(transformer).__name__]
            if switch is None or getattr(transformer, switch)
        ]
        if getattr(transformer, "clip", False):
            limits = (
                (-1.0, 1.0) if type(transformer).__name__ == "MaxAbsScaler" else transformer.feature_range
            )
            low, high = map(float, limits)
            steps += [("maximum", low), ("minimum", high)]
        found += builder.add(Arithmetic((column,), tuple(steps)))
    return found


def binarizer(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate a Binarizer."""
    del name, is_flat
    step = ("above", float(transformer.threshold))
    return [k for column in inputs for k in builder.add(Arithmetic((column,), (step,)))]


def simple_imputer(
    builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool
) -> list[int]:
    """Translate a SimpleImputer: columns without any value in training are left out."""
    del name, is_flat
    marker = _marker(transformer.missing_values)
    found = []
    for column, value in zip(inputs, transformer.statistics_.tolist(), strict=True):
        if is_missing(value) and not transformer.keep_empty_features:
            continue
        found += builder.add(Fill((column,), marker, plain_value(value)))
    if transformer.indicator_ is not None:
        found += missing_indicator(builder, "", transformer.indicator_, inputs, False)
    return found


def missing_indicator(
    builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool
) -> list[int]:
    """Translate a MissingIndicator."""
    del name, is_flat
    marker = _marker(transformer.missing_values)
    return [k for j in transformer.features_.tolist() for k in builder.add(Indicator((inputs[j],), marker))]


def _marker(missing_values: Any) -> Label:
    found: Label = plain_value(missing_values)
    return found


def bins(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate a KBinsDiscretizer."""
    del is_flat
    found = []
    for column, edges, n_bins in zip(
        inputs, transformer.bin_edges_, transformer.n_bins_.tolist(), strict=True
    ):
        (number,) = builder.add(Bins((column,), tuple(edges[1:-1].tolist())))
        if transformer.encode == "ordinal":
            found.append(number)
            continue
        positions = tuple(range(n_bins))
        labels = tuple(map(float, positions))
        found += builder.add(
            OneHot((number,), labels, builder.place(column, name), positions, n_bins, unknown=None)
        )
    return found


def polynomial(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate PolynomialFeatures; factors are multiplied in the order of scikit-learn."""
    del name, is_flat
    found = []
    for powers in transformer.powers_.tolist():
        factors = [inputs[j] for j, power in enumerate(powers) for _ in range(power)][::-1]
        if not factors:  # the constant 1, which a number to the power of 0 is
            labels = Lookup((inputs[0],), (), "the constant", ((),), (1.0,))
            found += builder.add(labels)
        elif len(factors) == 1:
            found += factors
        else:
            names = [" ".join(builder.names[k] for k in factors[::-1])]
            found += builder.add(Product(tuple(factors)), names)
    return found


def function(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate a FunctionTransformer: a function of numpy, or one whose outputs are one-to-one."""
    func = transformer.func
    if func is None:
        return inputs
    known = next((key for key, each in FUNCTIONS.items() if each is func), None)
    if known is not None and not transformer.kw_args:
        return [k for column in inputs for k in builder.add(Arithmetic((column,), ((known, None),)))]
    if isinstance(transformer.feature_names_out, str):  # "one-to-one"
        return add_external(builder, name, transformer, inputs, one_to_one, is_flat)
    raise untraceable(name, transformer, " (unless it is made with feature_names_out='one-to-one')")


def selection(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Translate the selection of features."""
    del builder, name, is_flat
    return [inputs[k] for k in np.flatnonzero(transformer.get_support()).tolist()]
