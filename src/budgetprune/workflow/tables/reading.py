"""Reading of rows: files, by the ending of the name, and tables in memory."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from budgetprune.costs import is_pandas, join_first
from budgetprune.errors import InvalidInputError
from budgetprune.utils.data_frames import as_data_frame
from budgetprune.utils.feature_names import default_name
from budgetprune.workflow.tables.arguments import argument, setting
from budgetprune.workflow.tables.databases import read_database
from budgetprune.workflow.tables.limits import MOST_COLUMNS
from budgetprune.workflow.tables.workbooks import read_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

# Name of the label column of an svmlight file.
LABEL = "label"
# Name of the column of an svmlight file with the queries (qid:7), which is read if it is asked for.
QUERY = "qid"
# Most rows that a message names.
MOST_PLACES = 10


_COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_SEPARATORS = ",;\t|"
_NUMBER = r"[-+]?[0-9]+(?:,[0-9]+)?"
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".duckdb": "duckdb",
}
_WITH_SHEETS = ("excel", "duckdb")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as they were read, before columns are classified as numbers or categories.

    Attributes
    ----------
    file : Path or str
        The file, or what messages call a DataFrame.
    frame : pandas.DataFrame
        All columns, by name. Text is as in the file.
    kind : {"csv", "parquet", "svmlight", "excel", "duckdb", "frame"}
    sheet_rows : int array of shape (n_rows,), or None
        Number of each row in the sheet of an Excel file, where the first row is 1.
    """

    file: Path | str
    frame: pd.DataFrame
    kind: str
    sheet_rows: NDArray[np.int64] | None = None

    def place(self, row: int) -> str:
        """Return the line of a row in a CSV file, or its number, for messages."""
        return self.places([row])

    def places(self, rows: Sequence[int]) -> str:
        """Return the lines of some rows, given in order; of many rows, the first few and their number."""
        shown = rows[:MOST_PLACES]
        is_csv = self.kind == "csv"
        if is_csv:
            numbers = _lines_of(Path(self.file), shown)
        else:
            numbers = [row + 1 if self.sheet_rows is None else int(self.sheet_rows[row]) for row in shown]
        more = f" and {len(rows) - len(shown)} more" if len(rows) > len(shown) else ""
        unit = f"{'line' if is_csv else 'row'}{'s' if len(rows) > 1 else ''}"
        return f"{unit} {', '.join(map(str, numbers))}{more} of {self.file}"

    def check_columns(self, names: Collection[str], what: str) -> None:
        """Raise unless the table has these columns, which the option `what` names."""
        for name in names:
            if name not in self.frame.columns:
                raise InvalidInputError(
                    f"{what} {name!r} is not a column of {self.file}; {columns_of(self.frame)}."
                )


def columns_of(frame: pd.DataFrame) -> str:
    """Return a list of the columns for an error message."""
    return f"its columns are {join_first(map(repr, frame.columns), at_most=12)}"


def open_table(
    table: Any,
    name: str = "the table",
    *,
    as_text: Collection[str] = (),
    max_columns: int = MOST_COLUMNS,
    sheet: str | None = None,
    sheet_option: str = "sheet",
) -> Table:
    """Return rows from a file or a table in memory.

    Parameters
    ----------
    table : path, DataFrame of pandas or polars, Arrow table, or relation of DuckDB
    name : what messages call a table in memory
    as_text, max_columns, sheet, sheet_option : see `read_table`
    """
    if isinstance(table, str | os.PathLike):
        return read_table(
            table, as_text=as_text, max_columns=max_columns, sheet=sheet, sheet_option=sheet_option
        )
    _refuse_sheet(sheet, name, sheet_option)
    table = as_pandas(table, name)
    if not is_pandas(table, "DataFrame"):
        raise InvalidInputError(
            f"{name} must be the path of a file or a table (a DataFrame of pandas or polars, an Arrow table, "
            f"a relation of DuckDB), not {_full_type(table)}."
        )
    try:
        frame = _normalised(table.copy(deep=False))
    except InvalidInputError as error:
        raise InvalidInputError(f"{name} cannot be read: {error}.") from error
    return Table(name, frame, "frame")


def _refuse_sheet(sheet: str | None, file: Any, option: str) -> None:
    if sheet is not None:
        raise InvalidInputError(
            f"{argument(option)} names a sheet of an Excel file or a table of a DuckDB file, and {file} is "
            "neither; leave it out."
        )


def as_pandas(table: Any, name: str = "the table") -> Any:
    """Return a table of polars, Arrow or DuckDB as a DataFrame of pandas; anything else stays as it is."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(table, polars.DataFrame):
        return table.to_pandas()
    return as_data_frame(table, name)


def _full_type(value: Any) -> str:
    """Return the type of a value with its package: ``polars.LazyFrame``."""
    package = type(value).__module__.partition(".")[0]
    return type(value).__name__ if package == "builtins" else f"{package}.{type(value).__name__}"


def table_name(table: Any, name: str = "the table") -> str:
    """Return what messages call a table: the path of a file, or `name`."""
    return os.fspath(table) if isinstance(table, str | os.PathLike) else name


def read_table(
    file: str | os.PathLike[str],
    *,
    as_text: Collection[str] = (),
    max_columns: int = MOST_COLUMNS,
    sheet: str | None = None,
    sheet_option: str = "sheet",
) -> Table:
    """Read all rows of a file, or raise InvalidInputError.

    Parameters
    ----------
    file : path of the file
        ``.csv`` or ``.tsv`` (also compressed: ``.csv.gz``), with names in the first line, separated by
        commas, semicolons, tabs or bars; ``.parquet``; ``.svm``, ``.svmlight`` or ``.libsvm``, whose features
        are named ``x0``, ``x1``, ... by their index, and whose labels are the column ``label``;
        ``.xlsx`` or ``.xlsm`` (Excel), with names in the first row; ``.duckdb``.
    as_text : columns of a CSV or Excel file that are read as strings
        For svmlight files, ``qid`` in it asks for the queries.
    max_columns : largest number of features of an svmlight file: its largest index plus one
    sheet : sheet of an Excel file, or table of a DuckDB file; None if there is only one
    sheet_option : name of the option that `sheet` comes from, for messages
    """
    path = Path(file)
    kind = _file_kind(path)
    if kind not in _WITH_SHEETS:
        _refuse_sheet(sheet, path, sheet_option)
    rows = None
    with reading_errors(path):
        if kind == "csv":
            frame = _read_csv(path, as_text)
        elif kind == "excel":
            frame, rows = read_workbook(path, as_text, sheet, sheet_option)
            frame = _normalised(frame)
        elif kind == "duckdb":
            frame = _normalised(read_database(path, sheet, sheet_option))
        elif kind == "parquet":
            frame = _read_parquet(path)
        else:
            frame = _read_svmlight(path, max_columns, with_queries=QUERY in as_text)
        _refuse_empty(frame)
        return Table(path, frame, kind, rows)


def _file_kind(path: Path) -> str:
    name = path.name.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    kind = _ENDINGS.get(Path(name).suffix)
    if kind is None:
        raise InvalidInputError(
            f"{path} has an unknown ending; save it as one of "
            f"{', '.join(f'*{ending}' for ending in _ENDINGS)}."
        )
    return kind


def is_workbook(path: Path) -> bool:
    """Whether a file is an Excel file, by the ending of its name."""
    return _ENDINGS.get(path.suffix.lower()) == "excel"


@contextmanager
def reading_errors(path: Path) -> Iterator[None]:
    """Turn errors into InvalidInputError with the file and the reason."""
    try:
        yield
    except (ModuleNotFoundError, MemoryError):
        raise
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not text in UTF-8 ({error}); save it as UTF-8.") from error
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InvalidInputError(f"{path} cannot be read: {reason or type(error).__name__}.") from error


# --- CSV ----------------------------------------------------------------------------------------------------


def _read_csv(path: Path, as_text: Collection[str]) -> pd.DataFrame:
    import pandas as pd

    separator, names = read_header(path)
    _refuse_duplicates(names)
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    with warnings.catch_warnings():
        # pandas cuts lines with more fields than names, and only warns.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        # With `low_memory`, a column is read in chunks, and each chunk determines its type.
        frame = pd.read_csv(
            path,
            sep=separator,
            header=0,
            names=names,
            low_memory=False,
            skipinitialspace=True,
            index_col=False,
            dtype={name: str for name in as_text if name in names},
        )
    # In a file separated by commas, the meaning of "1,234" is ambiguous.
    return frame if separator == "," else _with_decimal_points(frame, as_text)


def _refuse_duplicates(names: Collection[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if twice:
        raise InvalidInputError(f"it has more than one column called {join_first(map(repr, twice))}")


def _refuse_empty(frame: pd.DataFrame) -> None:
    if not len(frame):
        raise InvalidInputError("it has no rows")


def _with_decimal_points(frame: pd.DataFrame, as_text: Collection[str]) -> pd.DataFrame:
    """Convert columns of numbers with decimal commas, as European spreadsheets write them, to numbers."""
    for name in frame.columns.difference(list(as_text)):
        column = frame[name]
        if has_decimal_commas(column).any():
            written = column.dropna()
            if written.str.fullmatch(_NUMBER).all():
                frame[name] = written.str.replace(",", ".").astype(float).reindex(column.index)
    return frame


def has_decimal_commas(column: pd.Series[Any]) -> pd.Series[bool]:
    """Whether each value is a number with a decimal comma."""
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) != "string":
        return pd.Series(False, index=column.index)
    return column.str.fullmatch(r"[-+]?[0-9]+,[0-9]+", na=False).astype(bool)


def read_header(path: Path) -> tuple[str, list[str]]:
    """Return the separator of a CSV file and the stripped names in its first line."""
    of_separator = {}
    for each in _SEPARATORS:
        with open_text(path) as handle:
            names = next(csv.reader(handle, delimiter=each, skipinitialspace=True), [])
        of_separator[each] = [name.strip() for name in names]
    separator = max(_SEPARATORS, key=lambda each: len(of_separator[each]))
    if not any(of_separator[separator]):
        raise InvalidInputError("its first line is empty; it should hold the names of the columns")
    return separator, of_separator[separator]


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file, compressed or not."""
    unpack = _COMPRESSED.get(path.suffix.lower(), open)
    with unpack(path, "rt", encoding="utf-8-sig", newline="") as handle:
        yield cast(TextIO, handle)


def _lines_of(path: Path, rows: Collection[int]) -> list[int]:
    """Return the lines on which rows of a CSV file begin; quoted text may span lines, some are empty."""
    separator, _ = read_header(path)
    found = []
    with open_text(path) as handle:
        records = csv.reader(handle, delimiter=separator, skipinitialspace=True)
        begins, n_rows = 1, -1  # the first record holds the names
        for fields in records:
            if fields and n_rows in rows:
                found.append(begins)
                if len(found) == len(rows):
                    break
            n_rows += bool(fields)
            begins = records.line_num + 1
    return found


# --- Parquet and svmlight -----------------------------------------------------------------------------------


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    import pyarrow  # noqa: F401  (pandas only says that it has no engine)

    return _normalised(pd.read_parquet(path, engine="pyarrow"))


def _normalised(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with stripped, distinct column names; a named index becomes a column."""
    frame = frame.reset_index(drop=not any(frame.index.names))
    frame.columns = frame.columns.map(str).str.strip()
    _refuse_duplicates(frame.columns.tolist())
    _refuse_empty(frame)
    return frame


def _read_svmlight(path: Path, max_columns: int, *, with_queries: bool) -> pd.DataFrame:
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    # Indices are taken as they are: a guess whether they begin at 0 or 1 may differ between files.
    X, y, queries = load_svmlight_file(str(path), zero_based=True, query_id=True)
    if X.shape[1] > max_columns:
        index = X.shape[1] - 1
        raise InvalidInputError(
            f"{_line_with_index(path, index)} has a feature with the index {index}, but at most "
            f"{max_columns} columns are read; correct it, or allow more: "
            f"{setting('max_columns', index + 1)}"
        )
    begins_at_one = X.shape[1] > 1 and not X[:, [0]].nnz
    numbers = range(int(begins_at_one), X.shape[1])
    frame = pd.DataFrame(X[:, list(numbers)].toarray(), columns=[default_name(k) for k in numbers])
    frame.insert(0, LABEL, y)
    if with_queries and queries.size == len(frame):
        frame.insert(1, QUERY, queries)
    return frame


def _line_with_index(path: Path, index: int) -> str:
    """Return the first line of an svmlight file that has a feature with this index."""
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            if re.search(rf"\s0*{index}:", line.partition("#")[0]):
                return f"line {number}"
    return "a line"
