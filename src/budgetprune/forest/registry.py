"""Registry of adapters, one per library; others can be added from outside the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest.adapter import Adapter
from budgetprune.forest.damage import errors_as_damage
from budgetprune.utils.registry import Registry

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

ADAPTERS: Registry[Adapter] = Registry("library", ("budgetprune.forest.adapters:BUILT_IN",), base=Adapter)
unregister_adapter = ADAPTERS.unregister


def register_adapter(adapter: Adapter) -> Adapter:
    """Add a library; its name, its classes and its file suffixes must be free. Return the adapter."""
    if not isinstance(adapter, Adapter):
        raise InvalidInputError(f"a library must be an Adapter, not a {type(adapter).__name__}.")
    for other in ADAPTERS:
        taken = sorted({*adapter.importers, *adapter.suffixes} & {*other.importers, *other.suffixes})
        if taken:
            raise InvalidInputError(f"{', '.join(taken)} belongs to the library {other.name!r} already.")
    return ADAPTERS.register(adapter)


def adapter_of(model: Any) -> Adapter | None:
    """Return the adapter for a model's class, None if it has none."""
    name = _full_name(model)
    return next((adapter for adapter in ADAPTERS if name in adapter.importers), None)


def adapter_of_suffix(suffix: str) -> Adapter | None:
    """Return the adapter that reads files with a suffix, None if there is none."""
    return next((adapter for adapter in ADAPTERS if suffix in adapter.suffixes), None)


def adapter_of_folder(folder: Path) -> Adapter | None:
    """Return the adapter of the library that saved a model as a folder, None if there is none."""
    return next((adapter for adapter in ADAPTERS if adapter.is_model_folder(folder)), None)


def find_adapter(model: Any) -> Adapter:
    """Return the adapter for the class of a model, fitted or not; raise if there is none."""
    adapter = adapter_of(model)
    if adapter is None:
        supported = sorted(name for each in ADAPTERS for name in each.importers)
        raise UnsupportedModelError(
            f"cannot turn a {_full_name(model)} into a Forest. Supported are these classes, but not their "
            f"subclasses: {', '.join(supported)}. The pruning estimators and prune_model "
            "take pipelines that end with such a model; of a search, pass best_estimator_."
        )
    return adapter


def import_model(model: Any) -> Forest:
    """Convert a model with the importer of its class; raise if the model is damaged."""
    importers = find_adapter(model).importers
    with errors_as_damage(type(model).__name__):
        return importers[_full_name(model)](model)


def is_ranking_model(model: Any) -> bool:
    """Whether a fitted model was trained by an objective of ranking."""
    return find_adapter(model).is_ranking_model(model)


def export_forest(forest: Forest, library: str | None = None, **options: Any) -> Any:
    """Convert a forest to a model of a library; None means the library that it was imported from."""
    adapter = find_adapter(forest.origin) if library is None else ADAPTERS.find(library)
    return adapter.export(forest, **options)


def _full_name(model: Any) -> str:
    kind = type(model)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
