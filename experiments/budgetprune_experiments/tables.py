"""Tables as text for the terminal and as Markdown."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from budgetprune_experiments.experiment import Cell, Table


def as_text(table: Table) -> str:
    """Align the columns: numbers to the right, words to the left; highlighted rows have an arrow."""
    cells = [[_shown(cell) for cell in row] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(table.columns, *cells, strict=True)]
    is_number = _number_columns(table)

    def line(row: Sequence[str]) -> str:
        aligned = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ]
        return "  ".join(aligned)

    rule = "  ".join("-" * width for width in widths)
    body = [line(row) + ("  <-" if k in table.highlight else "") for k, row in enumerate(cells)]
    lines = [table.title, "", line(table.columns), rule, *body]
    return "\n".join(line.rstrip() for line in [*lines, *(["", table.note] if table.note else [])])


def as_markdown(table: Table) -> str:
    """Write a Markdown table (GitHub's syntax); highlighted rows are bold."""
    rule = ["---:" if right else "---" for right in _number_columns(table)]
    lines = [f"**{table.title}**", "", _row(table.columns), _row(rule)]
    for k, row in enumerate(table.rows):
        cells = [_shown(cell).replace("|", "\\|") for cell in row]
        lines.append(_row([f"**{cell}**" if cell and k in table.highlight else cell for cell in cells]))
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def with_spread(mean: float, spread: float | None, digits: int = 3) -> str:
    """Write a mean and a standard deviation over seeds; None, if there was a single seed."""
    return f"{mean:.{digits}f}" if spread is None else f"{mean:.{digits}f} ± {spread:.{digits}f}"


def mean_with_spread(values: ArrayLike, digits: int) -> str:
    """Write the mean of values and, if there are several, their standard deviation."""
    samples = np.asarray(values, dtype=np.float64)
    spread = float(samples.std(ddof=1)) if samples.size > 1 else None
    return with_spread(float(samples.mean()), spread, digits)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str | numbers.Integral):
        return str(cell)
    return f"{cell:.4g}"


def _number_columns(table: Table) -> list[bool]:
    """Columns whose non-empty cells all begin with a digit."""
    columns = [[_shown(row[k]) for row in table.rows] for k in range(len(table.columns))]
    filled = [[cell for cell in column if cell] for column in columns]
    return [bool(cells) and all(cell.lstrip("-+.")[:1].isdigit() for cell in cells) for cells in filled]
