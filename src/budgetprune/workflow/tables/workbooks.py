"""Excel files: one sheet, with names in its first row."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import join_first
from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.utils.extras import optional_import
from budgetprune.workflow.tables.arguments import setting

if TYPE_CHECKING:
    import pandas as pd

# Number of rows that a sheet can hold; programs that export more cut the rest off.
MOST_ROWS = 2**20
# Text that means a missing value in CSV files too.
_MISSING = frozenset(("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>"))


def read_workbook(
    path: Path, as_text: Collection[str] | None, sheet: str | None, sheet_option: str | None
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Read one sheet of an Excel file.

    Formulas have the values that were calculated when the file was saved. Cells with errors are missing.

    Parameters
    ----------
    path : path of the file
    as_text : columns that are read as strings; None: all
    sheet : name of the sheet; None if only one has any cells
    sheet_option : option that selects the sheet, for messages; None if there is none

    Returns
    -------
    frame : DataFrame
        Rows without any value are left out.
    rows : int array of shape (n_rows,)
        Number of each row in the sheet, where the first row is 1.
    """
    import pandas as pd

    with optional_import("Excel files", "excel"):
        from python_calamine import CalamineWorkbook

    with path.open("rb") as handle:
        found = _sheet(CalamineWorkbook.from_filelike(handle), sheet, sheet_option)
    if found.start is None:
        raise InvalidInputError(f"its sheet {found.name!r} is empty")
    first_row, first_column = found.start
    header, *lines = found.to_python()
    if first_row + 1 + len(lines) >= MOST_ROWS:
        warnings.warn(
            f"the sheet {found.name!r} of {path} is full: it has {MOST_ROWS:,} rows, the most that Excel can "
            "hold, so that further rows may have been cut off; use a CSV or Parquet file.",
            BudgetWarning,
            stacklevel=2,
        )
    is_filled = np.array([any(value != "" for value in line) for line in lines], dtype=np.bool_)
    rows = first_row + 2 + np.flatnonzero(is_filled)
    lines = [line for line, filled in zip(lines, is_filled, strict=True) if filled]
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(header)
    names = _names(header, columns, first_row + 1, first_column)
    kept = [k for k, name in enumerate(names) if name is not None]
    frame = pd.DataFrame({k: _column(columns[k], as_text is None or names[k] in as_text) for k in kept})
    frame.columns = pd.Index([names[k] for k in kept], dtype=object)
    return frame, rows


def _sheet(workbook: Any, name: str | None, option: str | None) -> Any:
    """Return the named sheet, or the only visible one that has any cells."""
    sheets = [each for each in workbook.sheets_metadata if str(each.typ).endswith("WorkSheet")]
    names = [each.name for each in sheets]
    if name is not None:
        if name not in names:
            raise InvalidInputError(
                f"it has no sheet {name!r}; its sheets are {join_first(map(repr, names), at_most=12)}"
            )
        return workbook.get_sheet_by_name(name)
    visible = [each.name for each in sheets if str(each.visible).endswith(".Visible")] or names
    if not visible:
        raise InvalidInputError("it has no sheet")
    filled = []
    for each in visible:
        found = workbook.get_sheet_by_name(each)
        filled += [found] if found.height else []
        if len(filled) > 1:
            raise InvalidInputError(
                f"it has several sheets: {join_first(map(repr, visible), at_most=12)}; "
                f"{_advice(option, filled[0].name)}"
            )
    return filled[0] if filled else workbook.get_sheet_by_name(visible[0])


def _advice(option: str | None, sheet: str) -> str:
    return f"say which one: {setting(option, sheet)}" if option else "delete all but one"


def _names(
    header: Sequence[Any], columns: Sequence[Sequence[Any]], row: int, first_column: int
) -> list[str | None]:
    """Return the name of each column; None for a column without a name and without values."""
    names = [_text(value) for value in header]
    unnamed = [
        first_column + k
        for k, name in enumerate(names)
        if not name and any(value != "" for value in columns[k])
    ]
    if unnamed:
        raise InvalidInputError(
            f"row {row}, the first with values, should name the columns, but has nothing above column "
            f"{join_first([_letters(k) for k in unnamed], at_most=12)}; name them, and delete titles above "
            "the names"
        )
    return [name or None for name in names]


def _letters(column: int) -> str:
    """Return the letters of a column, as Excel shows them; the first column is 0."""
    letters = ""
    column += 1
    while column:
        column, last = divmod(column - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def _column(values: Sequence[Any], as_text: bool) -> pd.Series[Any]:
    """Return the values of a column; numbers beside text are written as text, as CSV files have them."""
    import pandas as pd

    present = [None if isinstance(value, str) and value.strip() in _MISSING else value for value in values]
    if as_text or any(isinstance(value, str) for value in present):
        present = [None if value is None else _text(value) for value in present]
    elif any(isinstance(value, datetime.datetime) for value in present):
        present = [_with_time(value) for value in present]
    return pd.Series(present, dtype=object).infer_objects()


def _with_time(value: Any) -> Any:
    """Return midnight for a date: a column of dates and times is one of times."""
    is_date = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    return datetime.datetime.combine(value, datetime.time()) if is_date else value


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
