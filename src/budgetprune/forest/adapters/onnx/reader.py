"""Loading of ONNX files. It runs in a separate process and imports nothing of budgetprune."""

from __future__ import annotations

from typing import Any

PACKAGE = "onnx"


def load(content: bytes) -> Any:
    """Load a ModelProto; tensors in other files are not read."""
    import onnx

    return onnx.load_model_from_string(content)


def save(model: Any) -> bytes:
    """Write a ModelProto again."""
    content: bytes = model.SerializeToString()
    return content
