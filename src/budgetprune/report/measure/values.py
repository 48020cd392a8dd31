"""Values of single rows, as plain values with names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.report.summary.values import FeatureValue, FeatureValues, Value

# Maximum number of values per step shown.
MOST_VALUES = 3

# Values by feature name.
NamedValues = dict[str, Any]


def named_values(forest: Forest, row: NDArray[Any]) -> NamedValues:
    """Return a prepared row by feature name, with categories instead of codes."""
    return {
        name: float(x) if known is None else None if np.isnan(x) else known[int(x)]
        for name, known, x in zip(forest.names, forest.feature_categories, row, strict=True)
    }


def first_values(values: NamedValues, names: Sequence[str]) -> FeatureValues:
    """Return the first few of some values."""
    shown = tuple(FeatureValue(name, plain_value(values[name])) for name in names[:MOST_VALUES])
    return FeatureValues(shown, len(names) - len(shown))


def plain_value(value: Any) -> Value:
    """Convert a value to a float or a str; None if it is missing."""
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return None if value is None else str(value)


def features_of(costs: CostTable, s: int) -> list[int]:
    """Return the features that need a source."""
    return _feature_of_need(costs)[costs.needs == s].tolist()  # type: ignore[no-any-return]


def known_features(costs: CostTable, acquired: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the features whose sources are all acquired."""
    n_missing = np.bincount(
        _feature_of_need(costs), weights=~acquired[costs.needs], minlength=costs.n_features
    )
    return np.asarray(n_missing == 0)


def _feature_of_need(costs: CostTable) -> NDArray[np.intp]:
    """Return the feature of each entry of `CostTable.needs`."""
    return np.repeat(np.arange(costs.n_features), np.diff(costs.needs_start))
