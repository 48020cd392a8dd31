"""What is in a column: numbers or categories. And the refusal of columns that are neither, quite."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.workflow.tables.reading import Table, has_decimal_commas

if TYPE_CHECKING:
    import pandas as pd

# Of the values that are there: with more numbers than that, a column with text is a column of numbers that
# has gone wrong.
MOST_NUMBERS_OF_TEXT = 0.5
# Texts that nearly always differ are names, not categories.
FEWEST_ROWS_OF_CATEGORY = 2.0


@dataclass(frozen=True, eq=False)
class Columns:
    """The features of a table, each with its kind.

    Attributes
    ----------
    frame : pandas.DataFrame
        float64 where a feature is a number, NaN where it is missing; else of pandas' type ``category``.
    """

    frame: pd.DataFrame

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    @property
    def is_categorical(self) -> list[bool]:
        """For each feature, whether it is no number."""
        return [str(dtype) == "category" for dtype in self.frame.dtypes]

    def doubts(self) -> list[str]:
        """Say which columns are hardly what they are taken for; nothing is wrong with going on."""
        found = []
        for name, is_categorical in zip(self.names, self.is_categorical, strict=True):
            column = self.frame[name]
            if is_categorical and column.count() < FEWEST_ROWS_OF_CATEGORY * len(column.cat.categories):
                found.append(
                    f"column {name!r} has {len(column.cat.categories)} different texts in {column.count()} "
                    f"rows, which are too many to learn from; --drop {name} if it is a name or a key."
                )
        return found


def sort_columns(table: Table, *, without: Collection[str], categorical: Collection[str] = ()) -> Columns:
    """Tell numbers from categories, column by column, or say which column is neither.

    Parameters
    ----------
    table : Table
    without : columns that are no features: the target, and what somebody drops
    categorical : columns that hold categories, whatever they look like
    """
    import pandas as pd

    names = [name for name in table.frame.columns if name not in without]
    if not names:
        raise InvalidInputError(f"{table.file} has no column to predict from.")
    sorted_columns = {
        name: labels_of(table.frame[name]) if name in categorical else _sorted(table, name) for name in names
    }
    return Columns(pd.DataFrame(sorted_columns, index=table.frame.index))


def _sorted(table: Table, name: str) -> pd.Series[Any]:
    import pandas as pd

    column = table.frame[name]
    types = pd.api.types
    if isinstance(next(iter(column.dropna()), None), list | dict | tuple | np.ndarray):
        raise InvalidInputError(
            f"column {name!r} of {table.file} holds lists or records; make a column of each part, or leave "
            f"it out: --drop {name}."
        )
    if types.is_bool_dtype(column.dtype) or str(column.dtype) == "category":
        return labels_of(column)
    if types.is_numeric_dtype(column.dtype):
        return finite_numbers(table, name)
    if holds_text(column):
        numbers = as_numbers(column)
        n_values, n_numbers = column.count(), numbers.count()
        if n_numbers <= MOST_NUMBERS_OF_TEXT * n_values:
            refuse_decimal_commas(table, name, f"take it for categories: --categorical {name}")
            return labels_of(column)
    return finite_numbers(table, name, f", or take it for categories: --categorical {name}")


def refuse_decimal_commas(table: Table, name: str, advice: str) -> None:
    """Raise if texts are mostly numbers with commas; `advice` is for those who want them as names."""
    column = table.frame[name]
    has_comma = has_decimal_commas(column).to_numpy()
    if has_comma.sum() > MOST_NUMBERS_OF_TEXT * column.count():
        first = int(np.argmax(has_comma))
        raise InvalidInputError(
            f"column {name!r} seems to hold numbers with commas: {column.iloc[first]!r} in "
            f"{table.place(first)}. Write decimal points, and nothing between thousands; or {advice}."
        )


def holds_text(column: pd.Series[Any]) -> bool:
    """Whether a column holds text, perhaps with truth values or numbers among it."""
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    return kind in ("string", "boolean", "empty", "mixed", "mixed-integer")


def as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column as float64: NaN where values are missing, or are no numbers."""
    import pandas as pd

    if str(column.dtype) == "category":
        column = column.astype(object)
    return pd.to_numeric(column, errors="coerce").astype(np.float64)


def finite_numbers(table: Table, name: str, advice: str = "") -> pd.Series[Any]:
    """A column as float64, or an error about the first entry that is no (finite) number.

    Parameters
    ----------
    table : Table
    name : of the column
    advice : what else can be done about text than to clean it
    """
    import pandas as pd

    column = table.frame[name]
    if pd.api.types.infer_dtype(column, skipna=True) in _TIMES:
        raise InvalidInputError(
            f"column {name!r} of {table.file} holds dates or times; turn it into numbers (days since then, "
            "say), or predict without it (--drop)."
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


def labels_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column as pandas' type ``category``: truth values, whole numbers or text, whatever all values are.

    So what is "1" in a CSV file is the same category as 1 in a Parquet file, and "01" is not.
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
        present = _natural(present)
    elif kind == "boolean":
        present = present.astype(bool)
    else:
        is_small = present.between(np.iinfo(np.int64).min, np.iinfo(np.int64).max).all()
        present = present.astype(np.int64 if is_small else str)
    labels = pd.Series(pd.Categorical(present), index=present.index)
    return labels.reindex(column.index)


def truths_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """Truth values, however they are spelled, as pandas' type ``category``; other things are missing."""
    import pandas as pd

    spelled = column.astype(str).str.strip().str.lower().map(_TRUTH | _NUMBERED_TRUTH)
    return pd.Series(pd.Categorical(spelled, categories=[False, True]), index=column.index)


_TRUTH = {"true": True, "false": False}
_NUMBERED_TRUTH = {"1": True, "0": False, "1.0": True, "0.0": False}
_TIMES = ("datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period")


def _natural(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Texts that spell truth values or whole numbers, all of them, as those."""
    lower = texts.str.lower()
    if lower.isin(list(_TRUTH)).all():
        return lower.map(_TRUTH).astype(bool)
    is_whole = texts.str.fullmatch(r"0|-?[1-9][0-9]{0,17}")
    return texts.astype(np.int64) if is_whole.all() and len(texts) else texts
