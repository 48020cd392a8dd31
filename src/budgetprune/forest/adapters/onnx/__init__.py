"""ONNX: export only."""

from __future__ import annotations

from typing import Any

from budgetprune.forest.registry import exporter


@exporter("onnx")
def export(forest: Any, name: str) -> Any:
    """Convert a forest to an ONNX model; the optional package onnx is imported here."""
    try:
        from budgetprune.forest.adapters.onnx.exporter import to_onnx
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'budgetprune[onnx]'") from error
    return to_onnx(forest, name)
