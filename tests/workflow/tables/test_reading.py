"""Files of rows: what is in them is read, and what is wrong with them is said."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from budgetprune import InvalidInputError
from budgetprune.workflow.tables import classify_columns, open_table, read_table

FRAME = pd.DataFrame(
    {"a": [1.5, None, -3.0], "b": ["x", "y", None], "c": [True, False, True], "y": [0, 1, 0]}
)


def check(table, kind):
    assert table.kind == kind
    columns = classify_columns(table, without={"y"})
    assert columns.names == ("a", "b", "c")
    assert columns.is_categorical == [False, True, True]
    assert columns.frame["a"].dtype == np.float64
    assert columns.frame["a"].fillna(9).tolist() == [1.5, 9, -3]
    assert columns.frame["b"].cat.codes.tolist() == [0, 1, -1]
    assert columns.frame["c"].cat.categories.tolist() == [False, True]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv(tmp_path, separator):
    FRAME.to_csv(tmp_path / "t.csv", sep=separator, index=False)
    check(read_table(tmp_path / "t.csv"), "csv")


def test_csv_that_is_packed_and_has_a_mark_of_its_bytes(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wb") as handle:
        handle.write(b"\xef\xbb\xbf" + FRAME.to_csv(index=False).encode())
    check(read_table(tmp_path / "t.csv.gz"), "csv")


def test_parquet(tmp_path):
    FRAME.set_index(np.array([5, 6, 7])).to_parquet(tmp_path / "t.parquet")
    check(read_table(tmp_path / "t.parquet"), "parquet")
    FRAME.assign(b=FRAME["b"].astype("category")).to_parquet(tmp_path / "u.pq")
    check(read_table(tmp_path / "u.pq"), "parquet")


def test_svmlight_has_the_numbers_of_the_file(tmp_path):
    X, y = np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 3]]), np.array([1, 0, 1])
    dump_svmlight_file(X, y, str(tmp_path / "one.svm"), zero_based=False)
    one = read_table(tmp_path / "one.svm")
    assert list(one.frame) == ["label", "x1", "x2", "x3"]
    assert one.frame.to_numpy()[:, 1:].tolist() == X.tolist()
    dump_svmlight_file(X, y, str(tmp_path / "zero.svmlight"), zero_based=True)
    zero = read_table(tmp_path / "zero.svmlight")
    assert list(zero.frame) == ["label", "x0", "x1", "x2"]
    assert zero.frame["label"].tolist() == [1, 0, 1]


def test_an_index_that_would_fill_the_memory(tmp_path):
    """Rows are stored in full: a file of a few bytes must not ask for gigabytes."""
    file = tmp_path / "t.svm"
    file.write_text("# a comment with 20000000:1\n1 1:0.5 2:1\n\n0 1:2 20000000:1 # the end\n")
    with pytest.raises(InvalidInputError, match=r"line 4 has a feature with the index 20000000") as caught:
        read_table(file)
    assert "at most 10000 columns are read; correct it, or allow more: max_columns=20000001 (--max-c" in str(
        caught.value
    )
    file.write_text("1 1:0.5 2:1\n0 1:2 12000:1\n")
    assert read_table(file, max_columns=12_001).frame.shape == (2, 12_001)
    with pytest.raises(InvalidInputError, match=r"line 2 has .* the index 12000, but at most 12000"):
        read_table(file, max_columns=12_000)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.xls", b"a,y\n1,2\n", "an unknown ending"),
        ("t.csv", b"", "first line is empty"),
        ("t.csv", b"a,y\n", "it has no rows"),
        ("t.csv", b"a,a,y\n1,2,3\n", "more than one column called 'a'"),
        ("t.csv", b"a,y\n1,2\n1,2,3\n", "cannot be read"),
        ("t.csv", b"a,y\n1,2,3\n1,2,3\n", "cannot be read"),
        ("t.csv", "a,y\nä,2\n".encode("latin-1"), "not text in UTF-8"),
        ("t.csv", b'a,y\n"1,2\n', "cannot be read"),
        ("t.parquet", b"a,y\n1,2\n", "cannot be read"),
        ("t.svm", b"a,y\n1,2\n", "cannot be read"),
        ("t.csv.gz", b"a,y\n1,2\n", "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=words) as caught:
        read_table(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidInputError, match=r"t\.csv cannot be read: No such file"):
        read_table(tmp_path / "t.csv")


# --- Columns ------------------------------------------------------------------------------------------------


def columns_of(tmp_path, text, **how):
    (tmp_path / "t.csv").write_text(text)
    return classify_columns(
        read_table(tmp_path / "t.csv", as_text=how.get("categorical", ())), without={"y"}, **how
    )


def test_text_among_numbers_is_refused_with_its_line(tmp_path):
    """Lines, not rows: quoted text takes two of them, and one is empty."""
    text = 'a,b,y\n1,"two\nlines",0\n\n2,c,1\nn.d.,c,0\n3,c,1\n'
    words = r"column 'a' holds numbers, but also text: 'n\.d\.' in line 6 of .*t\.csv \(1 of 4 values .*"
    words += r"Clean it .*, or treat it as categorical: categorical=\['a'\] \(--categorical a\)\."
    with pytest.raises(InvalidInputError, match=words):
        columns_of(tmp_path, text)
    columns = columns_of(tmp_path, text, categorical=["a"])
    assert columns.frame["a"].cat.categories.tolist() == ["1", "2", "3", "n.d."]


def test_text_with_a_few_numbers_is_text(tmp_path):
    columns = columns_of(tmp_path, "a,y\nx,0\n7,1\nz,0\n,1\n")
    assert columns.frame["a"].cat.categories.tolist() == ["7", "x", "z"]


def test_missing_values_are_no_text(tmp_path):
    columns = columns_of(tmp_path, "a,b,y\n1,,0\nNA,,1\n,,0\nnan,,1\n")
    assert columns.is_categorical == [False, False]
    assert columns.frame["a"].count() == 1
    assert columns.frame["b"].count() == 0


@pytest.mark.parametrize("huge", ["inf", "-inf", "4e+38"])
def test_numbers_that_are_too_large_are_refused(tmp_path, huge):
    words = rf"column 'a' holds {re.escape(huge)} in line 3 of .*too large"
    with pytest.raises(InvalidInputError, match=words):
        columns_of(tmp_path, f"a,y\n1,0\n{huge},1\n")


def test_dates_are_refused(tmp_path):
    frame = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"]), "y": [0, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match=r"column 'when' of .* holds dates or times; .*--drop"):
        classify_columns(read_table(tmp_path / "t.parquet"), without={"y"})


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        (["1", "2", ""], [1, 2]),
        (["01", "2", "1"], ["01", "1", "2"]),
        (["true", "False", ""], [False, True]),
        (["a", "True", "1"], ["1", "True", "a"]),
    ],
)
def test_categories_are_what_all_of_them_are(tmp_path, written, labels):
    lines = "".join(f"{label},{k % 2}\n" for k, label in enumerate(written))
    columns = columns_of(tmp_path, f"a,y\n{lines}", categorical=["a"])
    assert columns.frame["a"].cat.categories.tolist() == labels


def test_whole_numbers_with_gaps_are_the_same_categories_in_parquet(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0, None], "y": [0, 1, 0]}).to_parquet(tmp_path / "t.parquet")
    columns = classify_columns(read_table(tmp_path / "t.parquet"), without={"y"}, categorical=["a"])
    assert columns.frame["a"].cat.categories.tolist() == [1, 2]


def test_doubts(tmp_path):
    lines = "".join(f"name {k},{k % 3},{k % 2}\n" for k in range(30))
    columns = columns_of(tmp_path, f"who,b,y\n{lines}")
    (doubt,) = columns.notes()
    assert "column 'who' has 30 different texts in 30 rows" in doubt


def test_nothing_to_predict_from(tmp_path):
    with pytest.raises(InvalidInputError, match="has no column to predict from"):
        columns_of(tmp_path, "y\n1\n2\n")


def test_decimal_commas(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('a;b;c;y\n-0,4;1;x;1\n12;2;"1,5";0\n;3;y;1\n')
    columns = classify_columns(read_table(file), without={"y"})
    assert columns.is_categorical == [False, False, True]
    assert columns.frame["a"].fillna(9).tolist() == [-0.4, 12, 9]
    file.write_text('a,y\n"0,4",1\n"1,234",0\n')
    with pytest.raises(InvalidInputError, match=r"'a' seems to hold numbers with commas: '0,4' in line 2 of"):
        classify_columns(read_table(file), without={"y"})
    assert classify_columns(read_table(file), without={"y"}, categorical={"a"}).is_categorical == [True]


def test_blanks_around_names(tmp_path):
    (tmp_path / "t.csv").write_text('a ,  b," c ",,"d\ne",y\n1,2,3,4,5,6\n')
    assert list(read_table(tmp_path / "t.csv").frame) == ["a", "b", "c", "column 4", "d\ne", "y"]
    (tmp_path / "t.csv").write_text("a,b, a,y\n1,2,3,4\n")
    with pytest.raises(InvalidInputError, match="more than one column called 'a'"):
        read_table(tmp_path / "t.csv")
    pd.DataFrame({" a": [1], "b ": [2]}).to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").frame) == ["a", "b"]


def test_an_index_that_has_a_name_is_a_column(tmp_path):
    FRAME.set_index("a").to_parquet(tmp_path / "t.parquet")
    check(read_table(tmp_path / "t.parquet"), "parquet")


def test_lists_are_refused(tmp_path):
    pd.DataFrame({"a": [[1, 2], [3]], "y": [0, 1]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match=r"'a' of .* holds lists or records; .*--drop a"):
        classify_columns(read_table(tmp_path / "t.parquet"), without={"y"})


def test_whole_numbers_that_are_too_long_are_names(tmp_path):
    long = [2**64 - 1, 1, 2**64 - 1]
    pd.DataFrame({"a": np.array(long, dtype=np.uint64), "y": [0, 1, 0]}).to_parquet(tmp_path / "t.parquet")
    column = classify_columns(read_table(tmp_path / "t.parquet"), without={"y"}, categorical={"a"}).frame["a"]
    assert column.tolist() == list(map(str, long))


def test_a_polars_table_keeps_its_types():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(
        {
            "n": [1, None, 3],
            "x": [0.5, None, 1.5],
            "s": ["01", None, "b"],
            "b": [True, None, False],
            "c": polars.Series(["u", "v", None], dtype=polars.Categorical),
        }
    )
    columns = classify_columns(open_table(table), without=())
    # Booleans with missing values are numbers, as in a CSV file.
    assert columns.is_categorical == [False, False, True, False, True]
    assert columns.frame["n"].fillna(-1).tolist() == [1, -1, 3]
    assert columns.frame["s"].cat.categories.tolist() == ["01", "b"]
    assert columns.frame["b"].fillna(-1).tolist() == [1, -1, 0]
    assert columns.frame["c"].cat.categories.tolist() == ["u", "v"]


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_a_note_on_the_index_of_a_larger_table(share):
    """Such as that of training rows which scikit-learn has drawn, and pandas has written."""
    rng = np.random.default_rng(0)
    index = rng.permutation(4000)[: int(4000 * share)]
    n = index.size
    frame = pd.DataFrame(
        {
            "Unnamed: 0": index,
            "income": rng.choice(10**9, n, replace=False),  # all different, but from a wide range
            "dose": rng.normal(size=n),
            "age": rng.integers(18, 90, n),
        }
    )
    notes = classify_columns(open_table(frame), without=()).notes()
    assert len(notes) == 1
    assert "'Unnamed: 0' has another whole number in each row, like a key" in notes[0]


def test_notes_on_columns_that_are_probably_no_features(tmp_path):
    n = 600
    frame = pd.DataFrame(
        {
            "Unnamed: 0": np.arange(n),
            "id": np.arange(1, n + 1),
            "weight": [f"{40 + k % 50}.6 kg" for k in range(n)],
            "ward": [f"w{k % 200}" for k in range(n)],
            "town": ["Aix", "Bonn", "Caen"] * (n // 3),
            "age": np.arange(n) % 90,
        }
    )
    notes = classify_columns(open_table(frame), without=()).notes()
    assert len(notes) == 4
    assert "'Unnamed: 0' numbers the rows" in notes[0]
    assert "--drop" in notes[0]
    assert "'id' numbers the rows" in notes[1]
    assert "'weight' seems to hold numbers with a unit ('40.6 kg')" in notes[2]
    assert "'ward' becomes a category with 200 values" in notes[3]
