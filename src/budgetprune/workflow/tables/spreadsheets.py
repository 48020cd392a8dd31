"""Escaping of text in CSV files that a spreadsheet would run as a formula."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?")
_QUOTE = "'"


def escape_formula(text: str) -> str:
    """Put a single quote before text that a spreadsheet would run as a formula; numbers are unchanged."""
    return _QUOTE + text if _is_formula(text) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`."""
    return text[1:] if text.startswith(_QUOTE) and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    # Leading quotes are ignored, so that different strings have different escaped forms.
    core = text.lstrip(_QUOTE)
    return core.startswith(_BEGINNINGS) and not _NUMBER.fullmatch(core)


def escape_formulas(frame: pd.DataFrame, separators: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return a table with escaped strings and column names.

    Parameters
    ----------
    frame : DataFrame
    separators : mapping
        Column whose fields hold several names, to the separator; these names are escaped one by one.
    """
    import pandas as pd

    separators = separators or {}
    return pd.DataFrame(
        {
            escape_formula(str(name)): _escaped(frame[name], separators.get(str(name)))
            for name in frame.columns
        },
        index=frame.index,
    )


def _escaped(column: pd.Series[Any], separator: str | None) -> pd.Series[Any]:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column

    def escape(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        parts = [value] if separator is None else value.split(separator)
        return (separator or "").join(map(escape_formula, parts))

    return column.astype(object).map(escape)
