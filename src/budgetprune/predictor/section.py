"""Section of model files that holds the settings of a predictor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from budgetprune.errors import InvalidInputError
from budgetprune.persistence import Content, Section

_NAME = "options"


def _write(options: Mapping[str, Any], others: Mapping[str, Any]) -> Content:
    return Content({_NAME: _check(dict(options))}, {})


def _read(content: Content, others: Mapping[str, Any]) -> dict[str, Any]:
    return _check(content.header[_NAME])


def _check(options: Any) -> dict[str, Any]:
    if not isinstance(options, dict) or not all(
        isinstance(name, str) and isinstance(value, bool | int | float | str | None)
        for name, value in options.items()
    ):
        raise InvalidInputError("options must map names to numbers, strings or None.")
    return options


SECTIONS = (Section(name=_NAME, since=1, keys=(_NAME,), dtypes={}, write=_write, read=_read),)
