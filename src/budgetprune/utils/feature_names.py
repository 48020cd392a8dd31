"""Default names of features."""

from __future__ import annotations


def default_name(feature: int) -> str:
    """Name of the column with a given number, for features without names."""
    return f"x{feature}"


def default_names(n_features: int) -> tuple[str, ...]:
    """Names "x0", "x1", ... for features without names."""
    return tuple(default_name(k) for k in range(n_features))
