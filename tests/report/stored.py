"""Write a summary as JSON and read it back, without any model."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import asdict, fields, is_dataclass
from typing import Any


def read_back(summary: Any) -> Any:
    """A summary of the same class from its own JSON text, which may contain infinite thresholds."""
    return _read(type(summary), json.loads(json.dumps(asdict(summary))))


def texts_of(value: Any, path: str = "") -> typing.Iterator[tuple[str, str]]:
    """All strings in a summary, with the names of the fields that lead to them."""
    if isinstance(value, str):
        yield path, value
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts_of(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from texts_of(key, f"{path}.key")
            yield from texts_of(each, path)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_of(each, path)


def _read(kind: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return None if value is None else _read(next(a for a in arguments if _fits(a, value)), value)
    if origin is tuple:
        kinds = [arguments[0]] * len(value) if arguments[-1] is ... else arguments
        return tuple(_read(each, part) for each, part in zip(kinds, value, strict=True))
    if origin is dict:
        return {arguments[0](key): _read(arguments[1], part) for key, part in value.items()}
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{name: _read(hints[name], part) for name, part in value.items()})
    return value


def _fits(kind: Any, value: Any) -> bool:
    if kind is type(None) or (kind is str and not isinstance(value, str)):
        return False
    return kind is not float or not isinstance(value, str)
