"""Write and read files that hold a forest, a table of costs and options, without a predictor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.persistence import SECTIONS, Content, open_sections, save_sections
from budgetprune.persistence.container import write_container

Model = tuple[Forest, CostTable, dict[str, Any]]


def objects_of(forest: Forest, costs: CostTable, options: Mapping[str, Any]) -> dict[str, Any]:
    """Objects by the names of their sections."""
    return {"forest": forest, "costs": costs, "options": options}


def save_model(file: Path, forest: Forest, costs: CostTable, options: Mapping[str, Any]) -> None:
    save_sections(file, objects_of(forest, costs, options))


def load_model(file: Path) -> Model:
    with open_sections(file) as stored:
        stored.need("forest", "costs", "options")
        return stored["forest"], stored["costs"], stored["options"]


def save_unchecked(file: Path, version: int, objects: Mapping[str, Any], further: Content) -> None:
    """Write a file with a further section that may be invalid."""
    header, arrays = dict(further.header), dict(further.arrays)
    for name, part in objects.items():
        content = SECTIONS.find(name).write(part, objects)
        header |= content.header
        arrays |= content.arrays
    write_container(file, version, header, arrays)
