"""Import of Ray, an optional dependency."""

from __future__ import annotations

from typing import Any


def import_ray() -> Any:
    """Import Ray, or say how to install it."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("engine='ray' needs Ray: pip install 'budgetprune[ray]'") from error
    return ray
