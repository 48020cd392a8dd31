"""Adapter of ONNX. The package onnx is imported when a model is converted."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from budgetprune.forest.adapter import Adapter
from budgetprune.forest.adapters.onnx import reader

if TYPE_CHECKING:
    from onnx import ModelProto

    from budgetprune.forest.forest import Forest


def _import(name: str, what: str) -> Any:
    """Import a module of this adapter, which needs onnx."""
    try:
        return import_module(f"{__package__}.{name}")
    except ImportError as error:
        raise ImportError(f"{what} needs onnx: pip install 'budgetprune[onnx]'", name=error.name) from error


def _from_model(model: ModelProto) -> Forest:
    return cast("Forest", _import("importer", "an ONNX model").from_onnx(model))


def _from_content(content: bytes) -> Forest:
    return cast("Forest", _import("importer", "an ONNX model").from_bytes(content))


def _from_file(file: str | Path) -> Forest:
    return cast("Forest", _import("importer", "an ONNX model").from_file(file))


_IMPORTERS = {
    "onnx.ModelProto": _from_model,
    "builtins.bytes": _from_content,
    "builtins.str": _from_file,
    "pathlib.PosixPath": _from_file,
    "pathlib.WindowsPath": _from_file,
}


class OnnxAdapter(Adapter):
    """Models with one tree operator, in both directions; they may be given as files or as their content."""

    name, title = "onnx", "ONNX"
    importers = _IMPORTERS
    suffixes = (".onnx",)
    reader = reader

    def export(self, forest: Forest, **options: Any) -> Any:
        """Convert a forest to an ONNX model; the option `name` is the name of the graph."""
        return _import("exporter", "to_onnx").to_onnx(forest, **options)
