"""Experiments run part by part: what is finished is kept, and used again only if it would be the same."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import budgetprune_experiments.store as store
from budgetprune.errors import InvalidInputError
from budgetprune.utils.threads import kernel_thread_count
from budgetprune_experiments import Options, Part, Table
from budgetprune_experiments.figure1c import made_documents
from budgetprune_experiments.runner import PartError, reproduce
from budgetprune_experiments.tables import as_markdown, as_text

from .toys import Toy


def keys(n_seeds):
    return [f"seed {seed}, {name}" for seed in range(n_seeds) for name in "abc"]


def run(tmp_path, toy, **options):
    return reproduce(toy, Options(out=tmp_path, **{"repeats": 2, **options}))


def test_what_is_written(tmp_path):
    outcome = run(tmp_path, Toy())
    folder = tmp_path / "toy"
    assert [file.relative_to(folder).as_posix() for file in outcome.files] == [
        "result.json",
        "table.md",
        "figure.png",
        "figure.svg",
    ]
    result = json.loads((folder / "result.json").read_text())
    assert result["seeds"] == [0, 1]
    assert result["split_sizes"] == [{"n_train": 10, "n_validation": 5, "n_test": 3}]
    assert result["substitute"] == "air"
    assert result["settings"] == {"scale": 1}
    assert {"python", "budgetprune", "numpy", "scikit-learn"} <= result["versions"].keys()
    assert [part["key"] for part in result["parts"]] == keys(2)
    assert [record["value"] for record in result["records"]] == [0, 0, 0, 1, 1, 1]
    assert "air" in (folder / "table.md").read_text()
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert ET.parse(folder / "figure.svg").getroot().tag.endswith("svg")
    # Nothing says where on the disk it was made.
    assert str(tmp_path) not in (folder / "result.json").read_text()


def test_a_figure_without_axes_is_not_kept(tmp_path):
    assert len(run(tmp_path, Toy(shown=False)).files) == 2
    assert not (tmp_path / "toy" / "figure.png").exists()


def test_finished_parts_are_kept_and_more_seeds_are_added(tmp_path):
    run(tmp_path, Toy(), repeats=1)
    again, more = Toy(), Toy()
    run(tmp_path, again, repeats=1)
    assert again.calls == []
    run(tmp_path, more, repeats=3)
    assert more.calls == keys(3)[3:]
    result = json.loads((tmp_path / "toy" / "result.json").read_text())
    assert [record["seed"] for record in result["records"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    fewer = Toy()
    run(tmp_path, fewer, repeats=2)
    assert fewer.calls == []
    assert json.loads((tmp_path / "toy" / "result.json").read_text())["seeds"] == [0, 1]


@pytest.mark.parametrize("error", [ValueError("no such luck"), KeyboardInterrupt()])
def test_what_was_done_before_a_failure_is_kept(tmp_path, error):
    with pytest.raises((PartError, KeyboardInterrupt)) as failure:
        run(tmp_path, Toy("seed 1, b", error))
    if isinstance(error, ValueError):
        assert str(failure.value) == "part 'seed 1, b' failed: ValueError: no such luck"
        assert failure.value.__cause__ is error
    assert not (tmp_path / "toy" / "result.json").exists()
    again = Toy()
    run(tmp_path, again)
    assert again.calls == ["seed 1, b", "seed 1, c"]


def test_other_settings_make_parts_again(tmp_path, monkeypatch):
    run(tmp_path, Toy(), repeats=1)
    for other, options in (
        (Toy(scale=2), {}),
        (Toy(scale=2), {"quick": True}),
        (Toy(scale=2), {"paper": True}),
        (Toy(scale=2), {"paper": True, "jobs": 1}),
        (Toy(scale=2, data=made_documents(0)), {"paper": True}),
        (Toy(scale=2, data=made_documents(1)), {"paper": True}),
        (Toy(scale=2), {"paper": True}),
    ):
        run(tmp_path, other, repeats=1, **options)
        assert other.calls == keys(1)
    monkeypatch.setattr(store, "__version__", "next")
    newer = Toy(scale=2)
    run(tmp_path, newer, repeats=1, paper=True)
    assert newer.calls == keys(1)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"key": "seed 0, b"}', b"\xff\xfe"])
def test_a_damaged_part_is_made_again(tmp_path, content):
    run(tmp_path, Toy(), repeats=1)
    (tmp_path / "toy" / "parts" / "seed-0-b.json").write_bytes(content)
    again = Toy()
    run(tmp_path, again, repeats=1)
    assert again.calls == ["seed 0, b"]


def test_parts_are_written_all_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("os.replace", lambda *files: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        run(tmp_path, Toy())
    assert list((tmp_path / "toy" / "parts").iterdir()) == []


class Listed(Toy):
    """Whatever parts it is given."""

    def __init__(self, *parts):
        super().__init__(shown=False)
        self._listed = parts

    def parts(self, options):
        return self._listed

    def tables(self, records, options):
        return [Table("All", ["x"], [[json.dumps(record["x"])] for record in records])]


def test_parts_that_would_share_a_file_are_refused_before_any_work(tmp_path):
    ran = []
    parts = [Part(key, lambda: ran.append(1) or []) for key in ("A, 1", "a 1")]
    with pytest.raises(InvalidInputError, match="several parts have the key 'A, 1'"):
        run(tmp_path, Listed(*parts))
    assert not ran


@pytest.mark.parametrize("value", [np.nan, object(), {1, 2}])
def test_records_that_are_not_json(tmp_path, value):
    with pytest.raises(InvalidInputError, match="records of 'one' are not JSON"):
        run(tmp_path, Listed(Part("one", lambda: [{"x": value}])))


def test_numbers_of_numpy_are_the_same_in_a_new_run_and_in_one_that_is_resumed(tmp_path):
    listed = Listed(Part("one", lambda: [{"x": np.float32(0.5)}, {"x": np.int64(3)}, {"x": np.arange(2)}]))
    first, again = run(tmp_path, listed), run(tmp_path, listed)
    assert first.tables == again.tables
    assert first.tables[0].rows == [["0.5"], ["3"], ["[0, 1]"]]


def test_kernels_use_as_many_threads_as_jobs(tmp_path):
    from threadpoolctl import threadpool_info

    def style():
        pools = {pool["num_threads"] for pool in threadpool_info()}
        return [{"x": [kernel_thread_count(), max(pools)]}]

    before = kernel_thread_count()
    outcome = run(tmp_path, Listed(Part("one", style)), jobs=1)
    assert outcome.tables[0].rows == [["[1, 1]"]]
    assert kernel_thread_count() == before


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"repeats": 0}, "repeats is 0"),
        ({"jobs": 0}, "jobs is 0"),
        ({"quick": True, "paper": True}, "exclude each other"),
    ],
)
def test_options_that_make_no_sense(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        Options(**wrong)


TABLE = Table("T", ["name", "n"], [["a|b", 1.23456], ["c", None]], note="N", highlight=frozenset({0}))


def test_tables():
    assert as_text(TABLE) == "T\n\nname      n\n----  -----\na|b   1.235  <-\nc\n\nN"
    assert as_markdown(TABLE) == (
        "**T**\n\n| name | n |\n| --- | ---: |\n| **a\\|b** | **1.235** |\n| c |  |\n\nN"
    )
