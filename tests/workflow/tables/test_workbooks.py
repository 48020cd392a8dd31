"""Excel files: cells of all types, several sheets, and files that cannot be read."""

from __future__ import annotations

import datetime as dt

import numpy as np
import openpyxl
import pytest

from budgetprune import BudgetWarning, InvalidInputError
from budgetprune.workflow.tables import classify_columns, read_price_list, read_table, workbooks


def write(file, sheets):
    """Write a workbook: the name of each sheet, and its rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file


def read(tmp_path, rows, **options):
    return read_table(write(tmp_path / "t.xlsx", {"Sheet": rows}), **options)


def test_cells_of_all_types(tmp_path):
    table = read(
        tmp_path,
        [
            ["age", " smoker ", "town", "code", "mixed", 2020],
            [61, True, "Rome", 7, 1, 0.5],
            [None, False, None, 8.0, "x", "NA"],
            [33.5, True, "Oslo", 9, 2.5, None],
        ],
        as_text=["code"],
    )
    assert table.kind == "excel"
    assert list(table.frame) == ["age", "smoker", "town", "code", "mixed", "2020"]
    assert table.frame["code"].tolist() == ["7", "8", "9"]
    assert table.frame["mixed"].tolist() == ["1", "x", "2.5"]
    columns = classify_columns(table, without={"mixed", "code"})
    assert columns.is_categorical == [False, True, True, False]
    assert columns.frame["age"].fillna(-1).tolist() == [61, -1, 33.5]
    assert columns.frame["town"].cat.categories.tolist() == ["Oslo", "Rome"]
    assert columns.frame["2020"].fillna(-1).tolist() == [0.5, -1, -1]


def test_errors_in_cells_are_missing_values(tmp_path):
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2], [1, 3]):
        book.active.append(row)
    book.active["A2"].value, book.active["A2"].data_type = "#DIV/0!", "e"
    book.save(tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").frame["a"].isna().tolist() == [True, False]


def test_a_place_is_the_row_of_the_sheet(tmp_path):
    """Rows without any value are left out, and the table need not begin in the first cell."""
    rows = [[], [None, "a", "b"], [None, 1, 2], [], [None, "?", 3], [None, 4, 4], [None, 5, 5]]
    table = read(tmp_path, rows)
    assert table.frame["b"].tolist() == [2, 3, 4, 5]
    assert table.place(1) == f"row 5 of {tmp_path / 't.xlsx'}"
    with pytest.raises(
        InvalidInputError, match=r"column 'a' holds numbers, but also text: '\?' in row 5 of "
    ):
        classify_columns(table, without={"b"})


@pytest.mark.parametrize(
    "values",
    [
        [dt.datetime(2024, 1, 31, 12), dt.datetime(2024, 2, 1)],
        [dt.date(2024, 1, 31), None],
        [dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 13, 5)],
        [dt.time(12, 30), dt.time(1, 2)],
        [dt.timedelta(hours=30), None],
    ],
)
def test_dates_and_times_are_refused(tmp_path, values):
    table = read(tmp_path, [["when", "y"], *([value, 1] for value in values)])
    with pytest.raises(InvalidInputError, match=r"column 'when' .* holds dates or times; convert it to num"):
        classify_columns(table, without={"y"})


def test_several_sheets(tmp_path):
    file = write(
        tmp_path / "t.xlsx",
        {"Empty": [], "My data": [["a", "y"], [1, 0]], "old": [["a", "y"], [2, 1]]},
    )
    with pytest.raises(InvalidInputError) as caught:
        read_table(file)
    assert str(caught.value) == (
        f"{file} cannot be read: it has several sheets: 'Empty', 'My data', 'old'; say which one: "
        "sheet='My data' (--sheet 'My data')."
    )
    assert read_table(file, sheet="old").frame["a"].tolist() == [2]
    with pytest.raises(
        InvalidInputError, match=r"no sheet 'Old'; its sheets are 'Empty', 'My data', 'old'\."
    ):
        read_table(file, sheet="Old")
    with pytest.raises(InvalidInputError, match="its sheet 'Empty' is empty"):
        read_table(file, sheet="Empty")


def test_empty_and_hidden_sheets_need_not_be_named(tmp_path):
    file = write(tmp_path / "t.xlsx", {"a": [], "b": [["x"], [1]], "c": [["x"], [2]], "d": []})
    book = openpyxl.load_workbook(file)
    book["c"].sheet_state = "hidden"
    book.save(file)
    assert read_table(file).frame["x"].tolist() == [1]
    assert read_table(file, sheet="c").frame["x"].tolist() == [2]


def test_a_full_sheet_is_mentioned(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_ROWS", 4)
    with pytest.warns(BudgetWarning, match=r"the sheet 'Sheet' of .* is full: it has 4 rows"):
        assert len(read(tmp_path, [["a"], [1], [2], [3]]).frame) == 3
    assert len(read(tmp_path, [["a"], [1], [2]]).frame) == 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [["Patients of 2024"], ["age", "y"], [1, 0]],
            r"row 1, .* has nothing above column B; name them, and",
        ),
        ([["a", "a"], [1, 2]], "more than one column called 'a'"),
        ([["a", "b"]], "it has no rows"),
        ([], "its sheet 'Sheet' is empty"),
    ],
)
def test_sheets_that_are_refused(tmp_path, rows, words):
    with pytest.raises(InvalidInputError, match=rf"t\.xlsx cannot be read: .*{words}"):
        read(tmp_path, rows)


def test_columns_without_a_name_and_without_values_are_left_out(tmp_path):
    assert list(read(tmp_path, [["a", None, "b"], [1, None, 2], [3, None, 4]]).frame) == ["a", "b"]


def test_a_file_that_is_no_workbook(tmp_path):
    (tmp_path / "t.xlsx").write_text("a,y\n1,2\n")
    with pytest.raises(InvalidInputError, match=r"t\.xlsx cannot be read: "):
        read_table(tmp_path / "t.xlsx")


def test_letters_of_columns():
    numbers = [0, 25, 26, 51, 52, 701, 702, 16383]
    assert [workbooks._letters(k) for k in numbers] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "XFD"]


def test_price_list(tmp_path):
    rows = [["feature", "cost", "source"], ["age", 0, None], ["TSH", 4.5, "blood"], [2020, 3, "blood"]]
    file = write(tmp_path / "prices.xlsx", {"Prices": [*rows, [None, 10, "blood"]]})
    costs = read_price_list(file).for_features(["age", "TSH", "2020"])
    table = costs.resolve(3, ("age", "TSH", "2020"))
    assert np.array_equal(table.price_alone, [0, 14.5, 13])
    write(file, {"Prices": rows, "Old prices": rows})
    with pytest.raises(InvalidInputError, match="several sheets: 'Prices', 'Old prices'; delete all but one"):
        read_price_list(file)
    write(file, {"Prices": [["Feature", "Cost"], [], [2020, "4,5"], [2021, -1]]})
    with pytest.raises(InvalidInputError, match=r"the cost of '2021' in row 4 of .*prices\.xlsx is '-1'"):
        read_price_list(file)
    write(file, {"Prices": [["Feature", "Cost"], [2020, "4,5"]]})
    assert read_price_list(file).own == {"2020": 4.5}
    write(file, {"Prices": [["feature", "price"], ["age", 1]]})
    with pytest.raises(InvalidInputError, match=r"prices\.xlsx has the columns 'feature', 'price', but a p"):
        read_price_list(file)
