"""Sections of model files: one for each kind of object, registered by the package that defines the object.

A file is a set of sections. Each section owns some keys of the JSON header and some arrays, and has one
function that writes an object and one that reads it. A file may come from anywhere: reading returns numbers
and names only, all of them checked.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.persistence.container import Container, File, is_container, open_container, write_container
from budgetprune.persistence.errors import errors_name_file
from budgetprune.utils.registry import Registry
from budgetprune.utils.stored_arrays import Entry

# Format versions. A change of the content of files needs a new number, and golden files in the tests.
# 1: predictors; 2: paths and metadata; 3: staged models; 4: arrays may be compressed, paths without a model;
# 5: preprocessing; details of models (units, quality of labels and probabilities); residuals.
PACKED = 4
VERSION = 5


class Content(NamedTuple):
    """Keys of the header and arrays that belong to one section."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Section:
    """Description of how one kind of object is stored.

    Attributes
    ----------
    name : str
        Name of the object, for example "forest".
    since : int
        First format version that has the section.
    keys : tuple of str
        Keys of the header that belong to the section.
    dtypes : dict
        Types of the arrays that belong to the section, by name. None: any type that files can hold.
    write : callable ``(object, others) -> Content``
        `others` maps names to all objects of the file.
    read : callable ``(content, others) -> object``
        Raises InvalidInputError unless the content is valid. `others` maps names to the other objects of the
        file, which are read when they are asked for.
    read_older : callable ``(file) -> object``, optional
        Reads files that were written before these objects were stored in containers.
    """

    name: str
    since: int
    keys: tuple[str, ...]
    dtypes: Mapping[str, Any]
    write: Callable[[Any, Mapping[str, Any]], Content]
    read: Callable[[Content, Mapping[str, Any]], Any]
    read_older: Callable[[File], Any] | None = None


SECTIONS: Registry[Section] = Registry(
    "section of model files",
    (
        "budgetprune.forest.section:SECTIONS",
        "budgetprune.costs.section:SECTIONS",
        "budgetprune.predictor.section:SECTIONS",
        "budgetprune.predictor.residuals:SECTIONS",
        "budgetprune.path.section:SECTIONS",
        "budgetprune.model.section:SECTIONS",
        "budgetprune.staged.section:SECTIONS",
        "budgetprune.preprocessing.section:SECTIONS",
    ),
)


# --- Writing ------------------------------------------------------------------------------------------------


def save_sections(file: File, objects: Mapping[str, Any], *, compress: bool = False) -> None:
    """Write objects to a file, atomically.

    The file gets the first format version that has all sections, so that earlier releases can read it.

    Parameters
    ----------
    file : path of the file
    objects : mapping from names of sections to objects
    compress : bool
        Compress the arrays.
    """
    sections = sorted(map(SECTIONS.find, objects), key=lambda section: section.since)
    header: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for section in sections:
        content = section.write(objects[section.name], objects)
        header |= content.header
        arrays |= content.arrays
    version = max(PACKED, sections[-1].since) if compress else sections[-1].since
    write_container(file, version, header, arrays, compress=compress)


# --- Reading ------------------------------------------------------------------------------------------------


class StoredSections(Mapping[str, Any]):
    """Objects of an open file, by the names of their sections. Each is read when it is asked for.

    Parameters
    ----------
    container : Container
        Names and types of its arrays, and the keys of its header, are checked.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._objects: dict[str, Any] = {}
        known = [section for section in SECTIONS if section.since <= container.version]
        unknown = container.header.keys() - {key for section in known for key in section.keys}
        if unknown:
            raise InvalidInputError(f"its header has unknown keys: {reprlib.repr(sorted(unknown))}.")
        check_arrays(container.entries, {name: d for section in known for name, d in section.dtypes.items()})
        self._present = {section.name: section for section in known if self._has(section)}
        needed = max([section.since for section in self._present.values()], default=0)
        if container.version not in (needed, max(needed, PACKED)):
            raise InvalidInputError(
                f"its preamble states format {container.version}, but its content has format {needed}."
            )

    def _has(self, section: Section) -> bool:
        header, entries = self._container.header, self._container.entries
        return any(key in header for key in section.keys) or any(name in entries for name in section.dtypes)

    def __getitem__(self, name: str) -> Any:
        if name not in self._objects:
            section, container = self._present[name], self._container
            header = {key: container.header[key] for key in section.keys if key in container.header}
            own = [array for array in container.entries if array in section.dtypes]
            content = Content(header, {array: container.read(array) for array in own})
            self._objects[name] = section.read(content, self)
        return self._objects[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the object of a section, or `default` if the file does not have it."""
        if name not in self:  # a KeyError while the section is read must not look like an absent section
            return default
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._present

    def __iter__(self) -> Iterator[str]:
        return iter(self._present)

    def __len__(self) -> int:
        return len(self._present)

    def need(self, *names: str) -> None:
        """Raise InvalidInputError unless the file has these sections."""
        absent = [name for name in names if name not in self]
        if absent:
            raise InvalidInputError(
                f"it has no section {', '.join(absent)}; its sections are {', '.join(self) or 'none'}."
            )


@contextmanager
def open_sections(file: File) -> Iterator[StoredSections]:
    """Open a file written by `save_sections`. Errors inside the context name the file.

    Files of all earlier format versions can be read.
    """
    with errors_name_file(file), open_container(file, newest=VERSION, packed_since=PACKED) as container:
        yield StoredSections(container)


def load_section(file: File, name: str) -> Any:
    """Read the object of one section from a file, which may have others as well."""
    section = SECTIONS.find(name)
    with errors_name_file(file):
        is_older = section.read_older is not None and not is_container(file)
    if is_older and section.read_older is not None:
        return section.read_older(file)
    with open_sections(file) as stored:
        stored.need(name)
        return stored[name]


# --- For functions that read and write a section ------------------------------------------------------------


def check_arrays(arrays: Mapping[str, NDArray[Any] | Entry], dtypes: Mapping[str, Any]) -> None:
    """Raise InvalidInputError for an array that is unknown or has the wrong type (None: any type)."""
    for name, array in arrays.items():
        if name not in dtypes:
            raise InvalidInputError(f"it has an unknown array, {reprlib.repr(name)}.")
        if dtypes[name] is not None and array.dtype.newbyteorder("=") != dtypes[name]:
            raise InvalidInputError(f"{name} must be an array of {np.dtype(dtypes[name])}.")


def add_prefix(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Put a prefix before all names."""
    return {prefix + name: array for name, array in arrays.items()}


def remove_prefix(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Select the names that begin with a prefix, and remove it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
