"""Loading of CatBoost's model files. It runs in a separate process and imports nothing of budgetprune."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

PACKAGE = "catboost"


def load(content: bytes) -> Any:
    """Load a model from CatBoost's binary format."""
    import catboost

    model = catboost.CatBoost()
    model.load_model(blob=content)
    return model


def save(model: Any) -> bytes:
    """Write a model in the binary format."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.cbm")
        model.save_model(str(file))
        return file.read_bytes()
