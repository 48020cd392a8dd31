"""DuckDB files: one table or view of a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from budgetprune.costs import join_first
from budgetprune.errors import InvalidInputError
from budgetprune.utils.data_frames import as_data_frame
from budgetprune.utils.extras import optional_import
from budgetprune.workflow.tables.arguments import setting

if TYPE_CHECKING:
    import pandas as pd

_TABLES = """
    SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END AS name,
           '"' || replace(table_schema, '"', '""') || '"."' || replace(table_name, '"', '""') || '"' AS quoted
    FROM information_schema.tables
    WHERE table_catalog = current_database() AND table_schema NOT IN ('information_schema', 'pg_catalog')
    ORDER BY name
"""


def read_database(path: Path, table: str | None, table_option: str) -> pd.DataFrame:
    """Read a table of a DuckDB file.

    The file is opened for reading only, and views cannot read other files.

    Parameters
    ----------
    path : path of the file
    table : name of a table or view, with its schema unless that is ``main``; None if there is only one
    table_option : option that selects the table, for messages
    """
    with optional_import("DuckDB files", "duckdb"):
        import duckdb

    with duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"}) as database:
        quoted = dict(database.execute(_TABLES).fetchall())
        names = join_first(map(repr, quoted), at_most=12)
        if not quoted:
            raise InvalidInputError("it has no table")
        if table is None and len(quoted) > 1:
            raise InvalidInputError(
                f"it has several tables: {names}; say which one: {setting(table_option, min(quoted))}"
            )
        if table is not None and table not in quoted:
            raise InvalidInputError(f"it has no table {table!r}; its tables are {names}")
        name = next(iter(quoted)) if table is None else table
        frame: pd.DataFrame = as_data_frame(database.sql(f"SELECT * FROM {quoted[name]}"), name)
        return frame
