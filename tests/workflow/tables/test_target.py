"""The column that is predicted."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.workflow.tables import encode_target, read_table, read_target


@pytest.fixture
def table(tmp_path):
    def write(*values):
        lines = "".join(f"{k},{value}\n" for k, value in enumerate(values))
        (tmp_path / "t.csv").write_text(f"a,y\n{lines}")
        return read_table(tmp_path / "t.csv")

    return write


@pytest.mark.parametrize(
    ("values", "task", "y"),
    [
        (["no", "yes", "no", "no"], "classification", ["no", "yes", "no", "no"]),
        (["True", "False", "True", "True"], "classification", [True, False, True, True]),
        ([0, 1, 1, 1], "classification", [0, 1, 1, 1]),
        ([1.0, 2.0, 1.0, 2.0], "classification", [1, 2, 1, 2]),
        ([0.5, 1.5, 0.5, 1.0], "regression", [0.5, 1.5, 0.5, 1.0]),
        (list(range(60)), "regression", list(range(60))),
    ],
)
def test_kinds(table, values, task, y):
    target = read_target(table(*values), "y")
    assert target.task == task
    assert target.y.tolist() == y
    assert [type(value) for value in target.y.tolist()] == [
        type(value) for value in y
    ] or task == "regression"


def test_tasks_that_are_asked_for(table):
    few = table(1, 2, 3, 1, 2, 3)
    assert read_target(few, "y").task == "classification"
    assert read_target(few, "y", "regression").y.dtype == np.float64
    many = table(*[k % 30 for k in range(90)])
    assert read_target(many, "y").task == "regression"
    assert np.unique(read_target(many, "y", "classification").y).tolist() == list(range(30))


@pytest.mark.parametrize(
    ("values", "task", "words"),
    [
        (["yes", "yes"], None, "the target 'y' is always 'yes'; add rows with other values"),
        ([3, 3, 3], None, "is always"),
        ([0.5, "", 1, ""], None, "'y' is missing in 2 of 4 rows: lines 3, 5 of"),
        ([0.5, 0.25, "?", 1], None, r"column 'y' holds numbers, but also text: '\?' in line 4 of"),
        (["a", "b", "a"], "regression", "column 'y' should hold numbers, but holds text: 'a' in line 2"),
        (["a", "b", "c", "d"], None, "4 different values in 4 rows, too many classes or too few rows"),
    ],
)
def test_what_is_refused(table, values, task, words):
    with pytest.raises(InvalidInputError, match=words):
        read_target(table(*values), "y", task)


def test_an_unknown_target(table):
    with pytest.raises(
        InvalidInputError, match=r"'Y' is not a column of .*; did you mean 'y'\? its columns are"
    ):
        read_target(table(0, 1), "Y")


def test_answers_are_spelled_as_the_model_does(table):
    classes = np.array(["no", "yes"])
    assert encode_target(table("yes", "maybe", "no"), "y", classes).tolist() == [1, -1, 0]
    assert encode_target(table(1, 0, 2), "y", np.array([0, 1])).tolist() == [1, 0, -1]
    assert encode_target(table(1.0, 0.0), "y", np.array([False, True])[[0, 1]].astype(int)).tolist() == [1, 0]
    assert encode_target(table(1.5, 0), "y", None).tolist() == [1.5, 0]
    with pytest.raises(InvalidInputError, match="never one of the model's classes, which are 'no', 'yes'"):
        encode_target(table(1, 0), "y", classes)
