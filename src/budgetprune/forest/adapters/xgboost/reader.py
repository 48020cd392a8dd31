"""Loading of XGBoost's model files. It runs in a separate process and imports nothing of budgetprune."""

from __future__ import annotations

from typing import Any

PACKAGE = "xgboost"


def load(content: bytes) -> Any:
    """Load a Booster from JSON or UBJSON."""
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(bytearray(content))
    return booster


def save(booster: Any) -> bytes:
    """Write a Booster as JSON."""
    return bytes(booster.save_raw("json"))
