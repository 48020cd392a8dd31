"""Parquet files and tables: any part of the rows, and clear errors before work starts."""

import os
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune.distributed import DistributedProblem
from budgetprune.distributed.tables import ParquetRows, TableRows, as_source
from budgetprune.errors import InvalidInputError

from ..solvers.strategies import examples
from .cases import bits, case

OPTIONS = {"error": "held-out", "target": "y", "weight": "w", "sample": 100}
CUTS = [0, 250, 250, 420, 600]


def write(folder, frame=None, cuts=CUTS, row_group_size=70):
    """Write a table to several files; one of them has no rows."""
    frame = case().frame if frame is None else frame
    for number, (first, last) in enumerate(pairwise(cuts)):
        table = pa.Table.from_pandas(frame[first:last], preserve_index=False)
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=row_group_size)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("rows"))


@pytest.fixture
def own_folder(tmp_path):
    return write(tmp_path)


@given(st.integers(0, 600), st.integers(0, 600), st.integers(1, 200))
@examples(15)
def test_any_part_of_the_rows_can_be_read(folder, one, other, most):
    first, last = sorted([one, other])
    rows = ParquetRows(folder)
    assert rows.n_rows == 600
    for source in (rows, TableRows(case().frame)):
        tables = [table for _, table in source.read(first, last, ["c3", "y"], most)]
        assert all(0 < table.num_rows <= most for table in tables)
        read = pd.concat([pd.DataFrame(columns=["c3", "y"]), *(table.to_pandas() for table in tables)])
        expected = case().frame[["c3", "y"]][first:last]
        assert np.array_equal(read.to_numpy(float), expected.to_numpy(float))


def test_files_give_the_bits_of_the_table(folder):
    expected = bits(case().distributed(**OPTIONS))
    names = sorted(str(path) for path in folder.iterdir())
    for rows in (folder, f"{folder}/*.parquet", names, [folder / "part-0.parquet", *names[1:]]):
        assert bits(DistributedProblem(case().forest, rows, workers=3, **OPTIONS)) == expected


def test_types_of_columns_do_not_matter():
    frame = case().frame
    expected = bits(DistributedProblem(case().forest, frame.assign(c0=np.round(frame.c0)), **OPTIONS))
    as_integers = frame.assign(
        c0=np.round(frame.c0).astype(int), c1=frame.c1.astype(float), w=frame.w.astype(int)
    )
    table = pa.Table.from_pandas(as_integers)
    nulls = table.set_column(table.column_names.index("c2"), "c2", pa.array(frame.c2, from_pandas=True))
    dictionary = nulls.set_column(
        nulls.column_names.index("w"), "w", nulls.column("w").cast(pa.float32()).dictionary_encode()
    )
    for rows in (as_integers, table, nulls, dictionary, table.to_batches()[0]):
        assert bits(DistributedProblem(case().forest, rows, **OPTIONS)) == expected


def test_a_file_that_was_cut_off_is_found_before_work_starts(own_folder):
    path = own_folder / "part-2.parquet"
    content = path.read_bytes()
    for length in (0, 3, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InvalidInputError, match=r"part-2.parquet is not a complete Parquet file"):
            DistributedProblem(case().forest, own_folder)
    # The end is there, but something in the middle is not.
    path.write_bytes(content[:100] + content[len(content) // 2 :])
    with pytest.raises(InvalidInputError, match=r"part-2.parquet (is not a complete|cannot be read)"):
        DistributedProblem(case().forest, own_folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="c4"), "without 'c4'"),
        (lambda frame: frame.assign(extra=1), "with 'extra'"),
        (lambda frame: frame.assign(c4="text"), "column 'c4' is (large_)?string, not float"),
        (lambda frame: frame.rename(columns={"c4": "C4"}), "without 'c4' and with 'C4'"),
    ],
)
def test_another_schema_is_found_before_work_starts(own_folder, change, message):
    changed = pa.Table.from_pandas(change(case().frame[420:]), preserve_index=False)
    pq.write_table(changed, own_folder / "part-3.parquet")
    with pytest.raises(InvalidInputError, match=rf"part-3.parquet has another schema .*part-0.*{message}"):
        DistributedProblem(case().forest, own_folder)


def test_a_file_that_changes_is_noticed(own_folder):
    rows = ParquetRows(own_folder)
    path = own_folder / "part-3.parquet"
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    assert len(list(rows.read(0, 400, ["c1"], 1000))) == 2  # the other files are as they were
    with pytest.raises(InvalidInputError, match="was changed while its rows were in use"):
        list(rows.read(0, 600, ["c1"], 1000))
    path.unlink()
    with pytest.raises(InvalidInputError, match="was removed while its rows were in use"):
        list(rows.read(500, 600, ["c1"], 1000))


def test_damaged_pages_name_the_file(own_folder):
    path = own_folder / "part-0.parquet"
    content = bytearray(path.read_bytes())
    content[10:2000] = b"\xff" * 1990
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInputError, match=r"part-0.parquet cannot be read"):
        DistributedProblem(case().forest, own_folder)


def test_errors_name_rows_and_file(own_folder):
    frame = case().frame.copy()
    frame.loc[455, "c1"] = np.inf
    write(own_folder, frame)
    with pytest.raises(
        InvalidInputError, match=r"rows 0 to 180 of .*part-3.parquet has an infinity .* row 35"
    ):
        DistributedProblem(case().forest, own_folder)


def test_refuses_names_without_files(tmp_path):
    for rows, message in (
        (tmp_path / "absent.parquet", "there is no file"),
        (f"{tmp_path}/*.parquet", "there are no Parquet files"),
        (tmp_path, "there are no Parquet files"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            ParquetRows(rows)
    with pytest.raises(InvalidInputError, match="have no rows"):
        ParquetRows(write(tmp_path, cuts=[0, 0]))
    with pytest.raises(InvalidInputError, match="rows must be Parquet files"):
        as_source([])


def test_categories_are_those_of_the_forest(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    from budgetprune import Forest, PruningProblem

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": pd.Categorical(rng.choice(["u", "v", "w"], 400))})
    y = ((frame.a > 0) ^ (frame.b == "v")).astype(int)
    model = lightgbm.LGBMClassifier(n_estimators=5, num_leaves=5, verbose=-1, n_jobs=1).fit(frame, y)
    forest = Forest.from_model(model)
    oracle = PruningProblem(forest, frame)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "dictionary.parquet")
    pq.write_table(pa.Table.from_pandas(frame.astype({"b": object})), tmp_path / "text.parquet")
    for name in ("dictionary", "text"):
        problem = DistributedProblem(forest, tmp_path / f"{name}.parquet", workers=2)
        assert problem.cost_of(problem.unpruned) == pytest.approx(oracle.cost_of(oracle.unpruned))
