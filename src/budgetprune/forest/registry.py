"""Registry of importers and exporters; the adapter of each library fills it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import errors_as_damage

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

Importer = Callable[[Any], "Forest"]

_importers: dict[str, Importer] = {}

Exporter = Callable[..., Any]

_exporters: dict[str, Exporter] = {}


def exporter(library: str) -> Callable[[Exporter], Exporter]:
    """Register a function that converts a Forest to a model of `library`."""

    def register(function: Exporter) -> Exporter:
        _exporters[library] = function
        return function

    return register


def export_forest(forest: Forest, library: str, *args: Any) -> Any:
    """Convert a forest to a model of a library with the exporter registered for it."""
    return _exporters[library](forest, *args)


def importer(*names: str) -> Callable[[Importer], Importer]:
    """Register a function as the importer of the classes called `names` ("library.Class").

    Names instead of classes avoid importing optional libraries. Exact names instead of `isinstance` exclude
    subclasses, which may predict differently.
    """

    def register(function: Importer) -> Importer:
        _importers.update(dict.fromkeys(names, function))
        return function

    return register


def import_model(model: Any) -> Forest:
    """Convert a model with the importer of its class; raise if the model is damaged."""
    check_supported(model)
    with errors_as_damage(type(model).__name__):
        return _importers[_full_name(model)](model)


def check_supported(model: Any) -> None:
    """Raise unless the class of a model, fitted or not, has an importer."""
    name = _full_name(model)
    if name not in _importers:
        raise UnsupportedModelError(
            f"cannot turn a {name} into a Forest. Supported are these classes, but not their subclasses: "
            f"{', '.join(sorted(_importers))}. If the model is wrapped in a pipeline or a search, pass the "
            "fitted model inside it."
        )


def _full_name(model: Any) -> str:
    kind = type(model)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
