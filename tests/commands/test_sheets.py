"""Commands that read Excel and DuckDB files: the same results as from CSV files."""

from __future__ import annotations

import duckdb
import pandas as pd
import pytest
from tests.commands.commands import FOREST, check_refused, patients, runner


@pytest.fixture
def run(capfd):
    return runner(capfd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows as CSV files, as sheets of a workbook, and as tables of a database."""
    path = tmp_path_factory.mktemp("sheets")
    tables = {"train": patients(160, 0), "test": patients(60, 1)}
    with pd.ExcelWriter(path / "book.xlsx") as book, duckdb.connect(str(path / "rows.duckdb")) as database:
        for name, table in tables.items():
            rows = table.drop(columns="risk")
            rows.to_csv(path / f"{name}.csv", index=False)
            rows.to_excel(book, sheet_name=name, index=False)
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
    prices = pd.DataFrame({"feature": list(rows.columns.drop("ill")), "cost": [1, 2, 1, 0, 4, 3]})
    prices.to_excel(path / "prices.xlsx", index=False)
    prices.to_csv(path / "prices.csv", index=False)
    return path


@pytest.mark.parametrize("file", ["book.xlsx", "rows.duckdb"])
def test_same_results_as_from_csv_files(run, folder, tmp_path, file):
    common = ("--target", "ill", "--budget", 5, "--trees", 4, "--jobs", 1)
    expected = run(
        *(*FOREST, folder / "train.csv", *common, "--costs", folder / "prices.csv"),
        *("--test", folder / "test.csv", "--out", tmp_path / "a", "--json"),
    ).json
    found = run(
        *(*FOREST, folder / file, "--sheet", "train", *common, "--costs", folder / "prices.xlsx"),
        *("--test", folder / file, "--test-sheet", "test", "--out", tmp_path / "b", "--json"),
    ).json
    assert found | {"out": 0} == expected | {"out": 0}
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    for words in (("predict", tmp_path / "a"), ("report", tmp_path / "a", "--data")):
        from_csv = run(*words, folder / "test.csv", "--json")
        assert run(*words, folder / file, "--sheet", "test", "--json").json == from_csv.json
    columns = run("costs", "init", folder / file, "--sheet", "train", "--target", "ill")
    assert columns.out == run("costs", "init", folder / "train.csv", "--target", "ill").out
    assert columns.out.startswith("feature,cost,source,note\nage,,,")


def test_messages_name_the_option_of_the_file(run, folder, tmp_path):
    book, out = folder / "book.xlsx", ("--out", tmp_path / "m")
    words = r"several sheets: 'train', 'test'; say which one: sheet='train' \(--sheet train\)\."
    check_refused(run("fit", book, "--target", "ill", *out), rf".*book\.xlsx cannot be read: it has {words}")
    given = ("fit", book, "--sheet", "train", "--target", "ill", *out)
    words = r"say which one: test_sheet='train' \(--test-sheet train\)\."
    check_refused(run(*given, "--test", book), rf".*several sheets.*{words}")
    check_refused(
        run(*given, "--test-sheet", "test"), r"test_sheet \(--test-sheet\) is a sheet of the test f"
    )
    csv = ("fit", folder / "train.csv", "--sheet", "train", "--target", "ill", *out)
    check_refused(run(*csv), r"sheet \(--sheet\) names a sheet of an Excel file .*train\.csv is neither")
    assert not (tmp_path / "m").exists()
