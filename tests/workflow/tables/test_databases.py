"""DuckDB files and relations, and Arrow tables."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from budgetprune import InvalidInputError
from budgetprune.workflow.tables import classify_columns, open_table, read_table

QUERY = """
    SELECT * FROM (VALUES
        (1.5::DECIMAL(4, 2), 'x', true, 1::HUGEINT, DATE '2020-01-01'),
        (NULL, 'y', NULL, 2, NULL),
        (-3, NULL, false, NULL, NULL)) AS t(a, b, c, d, e)
"""


@pytest.fixture
def database(tmp_path):
    """A file with the table `t`, made by statements; it can be opened again."""
    file = tmp_path / "t.duckdb"

    def make(*statements):
        with duckdb.connect(str(file)) as handle:
            for statement in statements:
                handle.execute(statement)
        return file

    return make


def check(table):
    columns = classify_columns(table, without={"e"})
    assert columns.names == ("a", "b", "c", "d")
    assert columns.frame["a"].dtype == np.float64
    assert columns.frame["a"].fillna(9).tolist() == [1.5, 9, -3]
    assert columns.frame["b"].cat.codes.tolist() == [0, 1, -1]
    assert columns.frame["d"].fillna(9).tolist() == [1, 2, 9]
    with pytest.raises(InvalidInputError, match=r"column 'e' of .* holds dates or times"):
        classify_columns(table, without={"a"})


def test_file(database):
    table = read_table(database(f"CREATE TABLE t AS {QUERY}"))
    assert table.kind == "duckdb"
    check(table)


def test_a_file_stays_as_it_is(database):
    file = database("CREATE TABLE t AS SELECT 1 AS a")
    before = file.read_bytes()
    read_table(file)
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_several_tables(database):
    file = database(
        'CREATE TABLE "b""1" AS SELECT 1 AS a',
        "CREATE SCHEMA s",
        "CREATE TABLE s.c AS SELECT 2 AS a",
        "CREATE VIEW v AS SELECT a + 1 AS a FROM s.c",
    )
    words = r"it has several tables: 'b\"1', 's\.c', 'v'; say which one: sheet='b\"1' \(--sheet 'b\"1'\)\.$"
    with pytest.raises(InvalidInputError, match=words):
        read_table(file)
    found = [read_table(file, sheet=name).frame["a"].tolist() for name in ('b"1', "s.c", "v")]
    assert found == [[1], [2], [3]]
    with pytest.raises(InvalidInputError, match=r"it has no table 'c'; its tables are 'b\"1', 's\.c', 'v'\."):
        read_table(file, sheet="c")


def test_views_cannot_read_other_files(database, tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    file = database(f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
    with pytest.raises(InvalidInputError, match="cannot be read: Permission Error"):
        read_table(file)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda file: file.write_bytes(b"a,y\n1,2\n" * 2000), "not a valid DuckDB"),
        (lambda file: duckdb.connect(str(file)).close(), "it has no table"),
        (
            lambda file: duckdb.connect(str(file)).execute("CREATE TABLE t (a INT)").close(),
            "it has no rows",
        ),
    ],
)
def test_files_that_cannot_be_read(tmp_path, make, words):
    make(tmp_path / "t.duckdb")
    with pytest.raises(InvalidInputError, match=rf"t\.duckdb cannot be read: .*{words}"):
        read_table(tmp_path / "t.duckdb")


@pytest.mark.parametrize(
    "convert",
    [
        lambda relation: relation,
        lambda relation: relation.to_arrow_table(),
        lambda relation: relation.to_arrow_table().to_reader(),
        lambda relation: relation.to_arrow_table().to_batches()[0],
    ],
    ids=["relation", "table", "reader", "batch"],
)
def test_tables_in_memory(convert):
    with duckdb.connect() as connection:
        check(open_table(convert(connection.sql(QUERY))))


def test_an_object_that_exports_arrow_data():
    class Exported:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert open_table(Exported()).frame["a"].tolist() == [1, 2]


def test_arrow_tables_of_pandas_keep_their_index():
    frame = pd.DataFrame({"a": [Decimal("1.25"), Decimal(2)]}, index=pd.Index([7, 8], name="key"))
    found = open_table(pa.Table.from_pandas(frame)).frame
    assert found.to_dict("list") == {"key": [7, 8], "a": [1.25, 2.0]}


@pytest.mark.parametrize("table", [pa.chunked_array([[1, 2]]), pa.array([1])])
def test_arrow_data_that_is_no_table(table):
    with pytest.raises(
        InvalidInputError, match=r"the table exports Arrow data that is no table .*column per f"
    ):
        open_table(table)


@pytest.mark.parametrize("table", [pl.LazyFrame({"a": [1]}), {"a": [1]}, [1]])
def test_other_objects_are_refused(table):
    with pytest.raises(InvalidInputError, match="must be the path of a file or a table"):
        open_table(table)


@pytest.mark.parametrize("table", [pd.DataFrame({"a": [1]}), "t.csv"])
def test_a_sheet_of_something_without_sheets(table, tmp_path):
    if isinstance(table, str):
        table = tmp_path / table
        table.write_text("a\n1\n")
    with pytest.raises(
        InvalidInputError, match=r"sheet \(--sheet\) names a sheet of an Excel file or a tabl"
    ):
        open_table(table, sheet="a")
