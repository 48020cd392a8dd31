"""Read a file of rows: CSV, Parquet or svmlight, by the ending of its name."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from budgetprune.costs.price_lists import listed
from budgetprune.errors import InvalidInputError
from budgetprune.utils.feature_names import default_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

# The label of a row of an svmlight file, as a column.
LABEL = "label"

# Rows of an svmlight file are stored in full, so that one large index can fill the memory.
MOST_COLUMNS = 10_000

_PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
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
}


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file, before anyone says what its columns mean.

    Attributes
    ----------
    file : Path
    frame : pandas.DataFrame
        All columns, by name. Those that hold text hold it as the file has it.
    kind : {"csv", "parquet", "svmlight"}
    """

    file: Path
    frame: pd.DataFrame
    kind: str

    def place(self, row: int) -> str:
        """Where a row is, as somebody finds it who opens the file."""
        if self.kind != "csv":
            return f"row {row + 1} of {self.file}"
        return f"line {_line_of(self.file, row)} of {self.file}"

    def check_columns(self, names: Collection[str], what: str) -> None:
        """Raise unless the file has these columns, which somebody named in `what`."""
        for name in names:
            if name not in self.frame.columns:
                raise InvalidInputError(
                    f"{what} {name!r} is no column of {self.file}; {columns_of(self.frame)}."
                )


def columns_of(frame: pd.DataFrame) -> str:
    """Name the columns in an error message."""
    return f"its columns are {listed(map(repr, frame.columns), at_most=12)}"


def read_table(
    file: str | os.PathLike[str], *, as_text: Collection[str] = (), max_columns: int = MOST_COLUMNS
) -> Table:
    """Read all rows of a file, or say why that cannot be done.

    Parameters
    ----------
    file : path of the file
        ``.csv`` or ``.tsv`` (also packed: ``.csv.gz``), with names in its first line, separated by commas,
        semicolons, tabs or bars; ``.parquet``; ``.svm``, ``.svmlight`` or ``.libsvm``, whose features are
        called ``x0``, ``x1``, ... by their numbers in the file, and whose labels are a column ``label``.
    as_text : names of columns of a CSV file that are read as they are written
    max_columns : number of features that an svmlight file may have: its largest index, plus one for index 0
    """
    path = Path(file)
    kind = _kind_of(path)
    with blamed_on(path):
        if kind == "csv":
            frame = _read_csv(path, as_text)
        elif kind == "parquet":
            frame = _read_parquet(path)
        else:
            frame = _read_svmlight(path, max_columns)
        if not len(frame):
            raise InvalidInputError("it has no rows")
        return Table(path, frame, kind)


def _kind_of(path: Path) -> str:
    name = path.name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    kind = _ENDINGS.get(Path(name).suffix)
    if kind is None:
        raise InvalidInputError(
            f"{path} has an ending that says nothing about what it holds; it should be saved as one of "
            f"{', '.join(f'*{ending}' for ending in _ENDINGS)}."
        )
    return kind


@contextmanager
def blamed_on(path: Path) -> Iterator[None]:
    """Say in one sentence which file cannot be read, and why; libraries have many ways to say that."""
    try:
        yield
    except (ModuleNotFoundError, MemoryError):
        raise
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is no text in UTF-8 ({error}); save it as UTF-8.") from error
    except Exception as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InvalidInputError(f"{path} cannot be read: {reason or type(error).__name__}.") from error


# --- CSV ----------------------------------------------------------------------------------------------------


def _read_csv(path: Path, as_text: Collection[str]) -> pd.DataFrame:
    import pandas as pd

    separator, names = read_header(path)
    _refuse_doubles(names)
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    with warnings.catch_warnings():
        # A line with more fields than there are names is cut, and a warning is all there is.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        # With `low_memory`, a column is read in pieces, and what is in a piece decides about its type.
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
    # Between commas, "1,234" could be many things.
    return frame if separator == "," else _with_decimal_points(frame, as_text)


def _refuse_doubles(names: Collection[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if twice:
        raise InvalidInputError(f"it has more than one column called {listed(map(repr, twice))}")


def _with_decimal_points(frame: pd.DataFrame, as_text: Collection[str]) -> pd.DataFrame:
    """Columns of numbers with decimal commas, as spreadsheets write them in much of Europe, as numbers."""
    for name in frame.columns.difference(list(as_text)):
        column = frame[name]
        if has_decimal_commas(column).any():
            written = column.dropna()
            if written.str.fullmatch(_NUMBER).all():
                frame[name] = written.str.replace(",", ".").astype(float).reindex(column.index)
    return frame


def has_decimal_commas(column: pd.Series[Any]) -> pd.Series[bool]:
    """For each value, whether it is a number with a decimal comma."""
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) != "string":
        return pd.Series(False, index=column.index)
    return column.str.fullmatch(r"[-+]?[0-9]+,[0-9]+", na=False).astype(bool)


def read_header(path: Path) -> tuple[str, list[str]]:
    """What separates the fields of a CSV file, and the names in its first line without blanks around."""
    of_separator = {}
    for each in _SEPARATORS:
        with opened(path) as handle:
            names = next(csv.reader(handle, delimiter=each, skipinitialspace=True), [])
        of_separator[each] = [name.strip() for name in names]
    separator = max(_SEPARATORS, key=lambda each: len(of_separator[each]))
    if not any(of_separator[separator]):
        raise InvalidInputError("its first line is empty; it should hold the names of the columns")
    return separator, of_separator[separator]


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """Open a text file, packed or not."""
    unpack = _PACKED.get(path.suffix.lower(), open)
    with unpack(path, "rt", encoding="utf-8-sig", newline="") as handle:
        yield cast(TextIO, handle)


def _line_of(path: Path, row: int) -> int:
    """Line on which a row of a CSV file begins: quoted text may take several, and some are empty."""
    separator, _ = read_header(path)
    with opened(path) as handle:
        records = csv.reader(handle, delimiter=separator, skipinitialspace=True)
        begins, n_rows = 1, -1  # the first record holds the names
        for fields in records:
            if fields and n_rows == row:
                break
            n_rows += bool(fields)
            begins = records.line_num + 1
    return begins


# --- Parquet and svmlight -----------------------------------------------------------------------------------


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd
    import pyarrow  # noqa: F401  (pandas only says that it has no engine)

    frame = pd.read_parquet(path, engine="pyarrow")
    # An index that has a name is a column that somebody has set aside.
    frame = frame.reset_index(drop=not any(frame.index.names))
    frame.columns = frame.columns.map(str).str.strip()
    _refuse_doubles(frame.columns.tolist())
    return frame


def _read_svmlight(path: Path, max_columns: int) -> pd.DataFrame:
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    # Taken as they are, numbers mean the same in every file; a guess where they begin may differ.
    X, y = load_svmlight_file(str(path), zero_based=True)
    if X.shape[1] > max_columns:
        index = X.shape[1] - 1
        raise InvalidInputError(
            f"{_line_with_index(path, index)} has a feature with the index {index}, but at most "
            f"{max_columns} columns are read; correct it, or allow more: --max-columns {index + 1} (in "
            "Python: max_columns)"
        )
    begins_at_one = X.shape[1] > 1 and not X[:, [0]].nnz
    numbers = range(int(begins_at_one), X.shape[1])
    frame = pd.DataFrame(X[:, list(numbers)].toarray(), columns=[default_name(k) for k in numbers])
    frame.insert(0, LABEL, y)
    return frame


def _line_with_index(path: Path, index: int) -> str:
    """Name the first line of an svmlight file that has a feature with this index."""
    with opened(path) as handle:
        for number, line in enumerate(handle, start=1):
            if re.search(rf"\s0*{index}:", line.partition("#")[0]):
                return f"line {number}"
    return "a line"
