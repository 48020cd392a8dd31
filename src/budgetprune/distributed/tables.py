"""Tables whose rows can be read in part, by any worker: Parquet files, and tables in memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    import pyarrow as pa

_GLOB = frozenset("*?[")


class Rows(Protocol):
    """Rows in a fixed order, that any worker can read a part of.

    Attributes
    ----------
    n_rows : int
    schema : pyarrow.Schema
        Names and types of the columns.
    """

    @property
    def n_rows(self) -> int: ...
    @property
    def schema(self) -> pa.Schema: ...

    def read(self, first: int, last: int, columns: Sequence[str], most: int) -> Iterator[tuple[str, Any]]:
        """Yield the rows from `first` to `last`, at most `most` at once.

        Each item is a name of these rows, for messages, and a pyarrow.Table with the columns.
        """
        ...


@dataclass(frozen=True)
class ParquetFile:
    """Description of a Parquet file, to notice that it has changed.

    Attributes
    ----------
    path : str
    size, mtime_ns : int
    group_rows : tuple of int
        Number of rows of each row group.
    """

    path: str
    size: int
    mtime_ns: int
    group_rows: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows of the file."""
        return sum(self.group_rows)


class ParquetRows:
    """Rows of Parquet files, one file after the other.

    The footer of each file is read at once, so that a file that is cut off or that has other columns is
    noticed before any work starts.

    Parameters
    ----------
    files : path, pattern such as ``rows/*.parquet``, folder, or list of paths
        All workers must be able to read them.
    """

    def __init__(self, files: Any) -> None:
        described, self._schema = [], None
        for path in find_files(files):
            file, schema = describe(path)
            if self._schema is None:
                self._schema = schema
            else:
                check_schema(schema, self._schema, path, described[0].path)
            described.append(file)
        self.files = tuple(described)
        self._start = list(accumulate((file.n_rows for file in self.files), initial=0))
        if self.n_rows == 0:
            raise InvalidInputError(f"the Parquet files have no rows: {_listed(self.files)}.")

    @property
    def n_rows(self) -> int:
        return self._start[-1]

    @property
    def schema(self) -> pa.Schema:
        assert self._schema is not None
        return self._schema

    def __repr__(self) -> str:
        return f"ParquetRows({_listed(self.files)}: {self.n_rows} rows)"

    def read(self, first: int, last: int, columns: Sequence[str], most: int) -> Iterator[tuple[str, Any]]:
        """Yield the rows from `first` to `last`, at most `most` at once; row groups of others are skipped."""
        for file, start in zip(self.files, self._start, strict=False):
            begin, end = max(first - start, 0), min(last - start, file.n_rows)
            if begin < end:
                yield from read_file(file, begin, end, columns, most)


def _listed(files: Sequence[ParquetFile]) -> str:
    return f"{files[0].path}{f' and {len(files) - 1} more' if len(files) > 1 else ''}"


def find_files(files: Any) -> list[str]:
    """List files by name, pattern or folder; raise if there are none."""
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    found: list[str] = []
    for item in files:
        name = os.fspath(item)
        if os.path.isdir(name):
            matches = sorted(glob.glob(os.path.join(glob.escape(name), "**", "*.parquet"), recursive=True))
        elif _GLOB & set(name) and not os.path.exists(name):
            matches = sorted(glob.glob(name, recursive=True))
        else:
            matches = [name]
        if not matches:
            raise InvalidInputError(f"there are no Parquet files {name}; check the pattern.")
        found += [os.path.abspath(match) for match in matches]
    if not found:
        raise InvalidInputError("rows is an empty list of files; name at least one.")
    return found


def describe(path: str) -> tuple[ParquetFile, pa.Schema]:
    """Read the footer of a Parquet file, which is at its end; raise if it is damaged."""
    import pyarrow.parquet as pq

    try:
        found = os.stat(path)
        with pq.ParquetFile(path) as file:
            meta, schema = file.metadata, file.schema_arrow
            groups = [meta.row_group(g) for g in range(meta.num_row_groups)]
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {path}.") from None
    except Exception as error:  # pyarrow raises errors of many types
        raise _damaged(path, error) from error
    for g, group in enumerate(groups):
        chunks = [group.column(c) for c in range(group.num_columns)]
        end = max((_end_of_chunk(chunk) for chunk in chunks), default=0)
        if end > found.st_size:
            raise _damaged(path, f"row group {g} should end at byte {end}, but the file has {found.st_size}")
    rows = tuple(group.num_rows for group in groups)
    return ParquetFile(path, found.st_size, found.st_mtime_ns, rows), schema


def _end_of_chunk(chunk: Any) -> int:
    begins = [chunk.data_page_offset]
    if chunk.dictionary_page_offset is not None:
        begins.append(chunk.dictionary_page_offset)
    return int(min(begins) + chunk.total_compressed_size)


def _damaged(path: str, reason: object) -> InvalidInputError:
    return InvalidInputError(
        f"{path} is not a complete Parquet file ({reason}); it may have been cut off. Write it again, or "
        "leave it out."
    )


def check_schema(schema: pa.Schema, expected: pa.Schema, path: str, first: str) -> None:
    """Raise if a file has other columns than the first one, or columns of another kind."""
    absent = [name for name in expected.names if name not in schema.names]
    added = [name for name in schema.names if name not in expected.names]
    if absent or added:
        problems = [
            f"{what} {', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
            for what, names in (("without", absent), ("with", added))
            if names
        ]
        raise InvalidInputError(
            f"{path} has another schema than {first}: {' and '.join(problems)}. All files need the same "
            "columns."
        )
    for name in expected.names:
        kinds = kind_of(schema.field(name).type), kind_of(expected.field(name).type)
        if kinds[0] != kinds[1]:
            raise InvalidInputError(
                f"{path} has another schema than {first}: column {name!r} is {schema.field(name).type}, "
                f"not {expected.field(name).type}. All files need the same columns."
            )


def kind_of(dtype: Any) -> str:
    """Kind of an Arrow type: number, text or the type itself. Null columns go with numbers."""
    import pyarrow.types as types

    if types.is_dictionary(dtype):
        return kind_of(dtype.value_type)
    is_number = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(is_kind(dtype) for is_kind in is_number):
        return "number"
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype):
        return "text"
    return str(dtype)


def read_file(
    file: ParquetFile, first: int, last: int, columns: Sequence[str], most: int
) -> Iterator[tuple[str, Any]]:
    """Yield some rows of a file, at most `most` at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    group_start = list(accumulate(file.group_rows, initial=0))
    ends = enumerate(pairwise(group_start))
    groups = [g for g, (begin, end) in ends if begin < last and end > first]
    at = group_start[groups[0]]
    try:
        found = os.stat(file.path)
    except FileNotFoundError:
        raise InvalidInputError(f"{file.path} was removed while its rows were in use.") from None
    if (found.st_size, found.st_mtime_ns) != (file.size, file.mtime_ns):
        raise InvalidInputError(
            f"{file.path} was changed while its rows were in use; start again, without an old checkpoint."
        )
    try:
        with pq.ParquetFile(file.path) as handle:
            for batch in handle.iter_batches(most, row_groups=groups, columns=list(columns)):
                begin, end = max(first - at, 0), min(last - at, batch.num_rows)
                if begin < end:
                    part = batch.slice(begin, end - begin)
                    name = f"rows {at + begin} to {at + end} of {file.path}"
                    yield name, pa.Table.from_batches([part])
                at += batch.num_rows
                if at >= last:
                    return
    except (OSError, pa.ArrowException) as error:
        raise InvalidInputError(f"{file.path} cannot be read: {error}") from error


class TableRows:
    """Rows of a table in memory.

    Parameters
    ----------
    table : pyarrow.Table, pandas.DataFrame, or array of shape (n_rows, n_columns)
        Columns of an array are called ``x0``, ``x1`` and so on.
    """

    def __init__(self, table: Any) -> None:
        self.table = as_table(table)
        if self.n_rows == 0:
            raise InvalidInputError("rows is an empty table.")

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    def __repr__(self) -> str:
        return f"TableRows({self.n_rows} rows)"

    def read(self, first: int, last: int, columns: Sequence[str], most: int) -> Iterator[tuple[str, Any]]:
        """Yield the rows from `first` to `last`, at most `most` at once."""
        chosen = self.table.select(list(columns))
        for begin in range(first, last, most):
            end = min(begin + most, last)
            yield f"rows {begin} to {end}", chosen.slice(begin, end - begin)


def as_table(table: Any) -> pa.Table:
    """Convert a table in memory to Arrow."""
    import pyarrow as pa

    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if hasattr(table, "iloc"):
        return pa.Table.from_pandas(table, preserve_index=False)
    if hasattr(table, "to_arrow"):
        return table.to_arrow()
    X: NDArray[Any] = np.asarray(table)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            "rows must be Parquet files (a path, a pattern or a list of paths), a Ray Dataset, a table of "
            "Arrow, pandas or polars, or an array of numbers with two dimensions, not "
            f"{type(table).__name__}."
        )
    return pa.table({f"x{k}": np.ascontiguousarray(column) for k, column in enumerate(X.T)})


def as_source(rows: Any) -> Rows:
    """Return rows that can be read in part: a table, or the files that are named."""
    if isinstance(rows, (str, os.PathLike)):
        return ParquetRows(rows)
    if isinstance(rows, (list, tuple)) and rows and all(isinstance(r, (str, os.PathLike)) for r in rows):
        return ParquetRows(rows)
    if hasattr(rows, "read") and hasattr(rows, "schema") and hasattr(rows, "n_rows"):
        source: Rows = rows
        return source
    if type(rows).__module__.startswith("ray.data"):
        from budgetprune.distributed.ray_dataset import DatasetRows

        return DatasetRows(rows)
    return TableRows(rows)
