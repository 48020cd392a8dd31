"""Classification of columns as numeric or categorical; columns that are neither are refused."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.workflow.tables.arguments import setting
from budgetprune.workflow.tables.reading import Table, has_decimal_commas

if TYPE_CHECKING:
    import pandas as pd

# Largest share of numbers in a text column. With more, the column is numeric, and its text is an error.
MOST_NUMBERS_OF_TEXT = 0.5
# Average number of rows of a category below which the column is probably a name or a key.
FEWEST_ROWS_OF_CATEGORY = 2.0

# A category column of more values than FEW_CATEGORIES is probably numeric if its texts are numbers with a
# unit ("33.6 kg"); from MANY_CATEGORIES on, it is mentioned in any case.
FEW_CATEGORIES, MANY_CATEGORIES = 10, 100
_WITH_UNIT = re.compile(
    r"[-+<>]?\s*[0-9]+(?:[.,][0-9]+)?\s*[^\W\d_]{1,6}(?:/[^\W\d_]{1,6})?|[-+]?[0-9.,]+\s*%"
)
# With fewer rows, a column that counts from 0 or 1 may be an accident.
FEWEST_NUMBERED_ROWS = 20
# Whole numbers are a key if all differ, although so many pairs of random ones from their range were equal.
EXPECTED_EQUAL = 10


@dataclass(frozen=True, eq=False)
class Columns:
    """Features of a table.

    Attributes
    ----------
    frame : pandas.DataFrame
        Numeric features are float64, with NaN for missing values; others have pandas' type ``category``.
    """

    frame: pd.DataFrame

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    @property
    def is_categorical(self) -> list[bool]:
        """Whether each feature is categorical."""
        return [str(dtype) == "category" for dtype in self.frame.dtypes]

    def notes(self) -> list[str]:
        """Return a note for each column that is probably a key, a row number or a number with a unit."""
        return [
            f"column {name!r} {problem}"
            for name, is_categorical in zip(self.names, self.is_categorical, strict=True)
            if (problem := (_odd_text if is_categorical else _odd_number)(name, self.frame[name]))
        ]


def _odd_text(name: str, column: pd.Series[Any]) -> str | None:
    """Describe a categorical column that is probably no category."""
    labels, n_rows = column.cat.categories, column.count()
    leave_out = f"leave it out: {setting('drop', [name])}"
    if n_rows < FEWEST_ROWS_OF_CATEGORY * len(labels):
        return (
            f"has {len(labels)} different texts in {n_rows} rows, which are too many to learn from; if it is "
            f"a name or a key, {leave_out}."
        )
    with_unit = [label for label in labels if isinstance(label, str) and _WITH_UNIT.fullmatch(label)]
    if len(with_unit) > MOST_NUMBERS_OF_TEXT * len(labels) and len(labels) > FEW_CATEGORIES:
        return (
            f"seems to hold numbers with a unit ({with_unit[0]!r}), and becomes a category for each text; "
            f"write the numbers alone, or {leave_out}."
        )
    if len(labels) >= MANY_CATEGORIES:
        return (
            f"becomes a category with {len(labels)} values; group rare ones if you can, and if it is a name "
            f"or a key, {leave_out}."
        )
    return None


def _odd_number(name: str, column: pd.Series[Any]) -> str | None:
    """Describe a numeric column that numbers the rows, or the rows of a table that these are a part of."""
    values = column.to_numpy()
    n_rows = len(values)
    if n_rows < FEWEST_NUMBERED_ROWS or np.isnan(values).any():
        return None
    leave_out = f"if it is no feature, leave it out: {setting('drop', [name])}"
    steps = values - np.arange(n_rows)
    if steps[0] in (0, 1) and np.all(steps == steps[0]):
        return f"numbers the rows; {leave_out}."
    n_pairs = n_rows * (n_rows - 1) / 2
    is_dense = n_pairs >= EXPECTED_EQUAL * (values.max() - values.min() + 1)
    if is_dense and np.all(values == np.rint(values)) and np.unique(values).size == n_rows:
        return f"has another whole number in each row, like a key; {leave_out}."
    return None


def classify_columns(table: Table, *, without: Collection[str], categorical: Collection[str] = ()) -> Columns:
    """Classify the columns of a table as numeric or categorical; raise if one is neither.

    Parameters
    ----------
    table : Table
    without : columns that are not features: the target and dropped columns
    categorical : columns to treat as categorical
    """
    import pandas as pd

    names = [name for name in table.frame.columns if name not in without]
    if not names:
        raise InvalidInputError(f"{table.file} has no column to predict from.")
    classified = {
        name: as_categories(table.frame[name]) if name in categorical else _classified(table, name)
        for name in names
    }
    return Columns(pd.DataFrame(classified, index=table.frame.index))


def _classified(table: Table, name: str) -> pd.Series[Any]:
    import pandas as pd

    column = table.frame[name]
    types = pd.api.types
    if isinstance(next(iter(column.dropna()), None), list | dict | tuple | np.ndarray):
        raise InvalidInputError(
            f"column {name!r} of {table.file} holds lists or records; make a column of each part, or leave "
            f"it out: {setting('drop', [name])}."
        )
    if types.is_bool_dtype(column.dtype) or str(column.dtype) == "category":
        return as_categories(column)
    if types.is_numeric_dtype(column.dtype):
        return finite_numbers(table, name)
    advice = f"treat it as categorical: {setting('categorical', [name])}"
    if holds_text(column):
        numbers = as_numbers(column)
        n_values, n_numbers = column.count(), numbers.count()
        if n_numbers <= MOST_NUMBERS_OF_TEXT * n_values:
            refuse_decimal_commas(table, name, advice)
            return as_categories(column)
    return finite_numbers(table, name, f", or {advice}")


def refuse_decimal_commas(table: Table, name: str, advice: str) -> None:
    """Raise if text is mostly numbers with commas; `advice` says how to keep it as text."""
    column = table.frame[name]
    has_comma = has_decimal_commas(column).to_numpy()
    if has_comma.sum() > MOST_NUMBERS_OF_TEXT * column.count():
        first = int(np.argmax(has_comma))
        raise InvalidInputError(
            f"column {name!r} seems to hold numbers with commas: {column.iloc[first]!r} in "
            f"{table.place(first)}. Write decimal points, and nothing between thousands; or {advice}."
        )


def holds_text(column: pd.Series[Any]) -> bool:
    """Whether a column holds strings, possibly mixed with booleans or numbers."""
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    return kind in ("string", "boolean", "empty", "mixed", "mixed-integer")


def as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as float64; missing values and values that are not numbers are NaN."""
    import pandas as pd

    if str(column.dtype) == "category":
        column = column.astype(object)
    return pd.to_numeric(column, errors="coerce").astype(np.float64)


def finite_numbers(table: Table, name: str, advice: str = "") -> pd.Series[Any]:
    """Return a column as float64; raise if an entry is not a finite number.

    Parameters
    ----------
    table : Table
    name : column
    advice : end of the message about text: an alternative to cleaning it
    """
    import pandas as pd

    column = table.frame[name]
    if pd.api.types.infer_dtype(column, skipna=True) in _TIMES:
        raise InvalidInputError(
            f"column {name!r} of {table.file} holds dates or times; convert it to numbers (for example "
            f"days since a fixed date), or leave it out: {setting('drop', [name])}."
        )
    numbers = as_numbers(column)
    is_text = (numbers.isna() & column.notna()).to_numpy()
    if is_text.any():
        first = int(np.argmax(is_text))
        what = "holds numbers, but also text" if numbers.count() else "should hold numbers, but holds text"
        raise InvalidInputError(
            f"column {name!r} {what}: {str(column.iloc[first])!r} in {table.place(first)} "
            f"({np.count_nonzero(is_text)} of {column.count()} values are text). Clean it (what is missing "
            f"stays empty){advice}."
        )
    # Forests of scikit-learn compare in single precision.
    is_too_large = np.abs(numbers.to_numpy()) > np.finfo(np.float32).max
    if is_too_large.any():
        first = int(np.argmax(is_too_large))
        raise InvalidInputError(
            f"column {name!r} holds {numbers.iloc[first]:.3g} in {table.place(first)}, which is too large to "
            "compute with; rescale or clip it, or leave it empty if it means that the value is missing."
        )
    return numbers


def as_categories(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as pandas' type ``category``; all categories are booleans, integers or strings.

    The string "1" in a CSV file and the number 1 in a Parquet file are the same category; "01" is another.
    """
    import pandas as pd

    if str(column.dtype) == "category":
        column = column.astype(object)
    present = column.dropna()
    kind = pd.api.types.infer_dtype(present)
    if kind not in ("boolean", "integer", "string"):
        as_float = as_numbers(present)
        is_whole = bool(((as_float % 1 == 0) & (as_float.abs() < 2**53)).all())
        present = as_float.astype(np.int64) if is_whole and kind == "floating" else present.astype(str)
    elif kind == "string":
        present = _converted(present)
    elif kind == "boolean":
        present = present.astype(bool)
    else:
        is_small = present.between(np.iinfo(np.int64).min, np.iinfo(np.int64).max).all()
        present = present.astype(np.int64 if is_small else str)
    labels = pd.Series(pd.Categorical(present), index=present.index)
    return labels.reindex(column.index)


def as_booleans(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return booleans in any spelling as pandas' type ``category``; other values are missing."""
    import pandas as pd

    spelled = column.astype(str).str.strip().str.lower().map(_BOOLEANS | _NUMERIC_BOOLEANS)
    return pd.Series(pd.Categorical(spelled, categories=[False, True]), index=column.index)


_BOOLEANS = {"true": True, "false": False}
_NUMERIC_BOOLEANS = {"1": True, "0": False, "1.0": True, "0.0": False}
_TIMES = ("datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period")


def _converted(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Convert strings to booleans or integers if all of them spell such values."""
    lower = texts.str.lower()
    if lower.isin(list(_BOOLEANS)).all():
        return lower.map(_BOOLEANS).astype(bool)
    is_whole = texts.str.fullmatch(r"0|-?[1-9][0-9]{0,17}")
    return texts.astype(np.int64) if is_whole.all() and len(texts) else texts
