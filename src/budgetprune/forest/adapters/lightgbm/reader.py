"""Loading of LightGBM's model text. It runs in a separate process and imports nothing of budgetprune."""

from __future__ import annotations

from typing import Any

PACKAGE = "lightgbm"


def load(content: bytes) -> Any:
    """Load a Booster from model text."""
    import lightgbm

    return lightgbm.Booster(model_str=content.decode())


def save(booster: Any) -> bytes:
    """Write the model text of a Booster."""
    text: str = booster.model_to_string()
    return text.encode()
