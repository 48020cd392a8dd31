"""Registry of file formats.

An object finds the functions that write and read its files here by name, so that it does not have to import
them. They are registered by the module that defines them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from budgetprune.utils.registry import Registry


@dataclass(frozen=True)
class Format:
    """File format of one kind of object.

    Attributes
    ----------
    name : str
    save : callable ``(object, file)``
    load : callable ``(file, ...)`` that returns the object
    """

    name: str
    save: Callable[..., None]
    load: Callable[..., Any]


FORMATS: Registry[Format] = Registry("file format")
