"""HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

# Longer tables show this many rows, evenly spaced, with both ends.
MOST_ROWS = 12


def html_table(caption: str, columns: Mapping[str, Any], *, marked: int | None = None) -> str:
    """Return a table for ``_repr_html_``; all text is escaped.

    Parameters
    ----------
    caption : str
        Without markup. If rows are left out, their number is added.
    columns : mapping from names to sequences of values
        All of the same length. Numbers have four digits.
    marked : int, optional
        Row in bold type, which is always shown.
    """
    n_rows = len(next(iter(columns.values())))
    shown = set(np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).round().astype(int).tolist())
    if marked is not None:
        shown.add(marked)
    if len(shown) < n_rows:
        caption = f"{caption}; {len(shown)} of {n_rows} rows"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        _row([values[k] for values in columns.values()], is_marked=k == marked) for k in sorted(shown)
    )
    return (
        f'<table class="budgetprune"><caption style="caption-side: top; text-align: left">{escape(caption)}'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _row(values: Sequence[Any], *, is_marked: bool) -> str:
    cells = []
    for value in values:
        style = "text-align: left" if isinstance(value, str) else "text-align: right"
        weight = "; font-weight: bold" if is_marked else ""
        cells.append(f'<td style="{style}{weight}">{escape(_written(value))}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return "" if np.isnan(value) else f"{value:.4g}"
