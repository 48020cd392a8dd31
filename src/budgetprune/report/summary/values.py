"""Values of features, labels and targets."""

from __future__ import annotations

from dataclasses import dataclass

# Value of a feature, a label or a target; None is a missing value.
Value = float | str | None


@dataclass(frozen=True)
class FeatureValue:
    """The name and the value of a feature in one row."""

    name: str
    value: Value


@dataclass(frozen=True)
class FeatureValues:
    """The first few values that a row has from some sources, and the number of the others."""

    shown: tuple[FeatureValue, ...]
    n_more: int
