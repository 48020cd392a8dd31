"""Adapter of ONNX, which is for export only. The package onnx is imported when a forest is exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from budgetprune.forest.adapter import Adapter

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


class OnnxAdapter(Adapter):
    """Export to ONNX."""

    name, title = "onnx", "ONNX"

    def export(self, forest: Forest, **options: Any) -> Any:
        """Convert a forest to an ONNX model; the option `name` is the name of the graph."""
        try:
            from budgetprune.forest.adapters.onnx.exporter import to_onnx
        except ImportError as error:
            raise ImportError("to_onnx needs onnx: pip install 'budgetprune[onnx]'") from error
        return to_onnx(forest, **options)
