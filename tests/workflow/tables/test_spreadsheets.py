"""Text that spreadsheets would run as formulas is written with a quote, and read back without."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune.workflow.tables.spreadsheets import escape_formula, escape_formulas, unescape_formula

pytestmark = pytest.mark.uncompiled

FORMULAS = ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-1+cmd", "-", "'=1+1"]
HARMLESS = ["", "yes", "a=1", "1", "-1", "+1", "-1.5", "-1,5", "+.5", "-1e-3", "+2E10", "'", "'yes", "'-1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_get_a_quote(text):
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_and_numbers_stay(text):
    assert escape_formula(text) == unescape_formula(text) == text


@given(st.text(alphabet="'=+-@\t1.,e a", max_size=6))
def test_escaping_can_be_undone(text):
    escaped = escape_formula(text)
    assert unescape_formula(escaped) == text
    assert not escaped.startswith(("=", "@", "\t"))


def test_tables():
    frame = pd.DataFrame(
        {
            "=name": pd.Categorical(["=a", "b", None]),
            "number": [-1, 2, 3],
            "mixed": ["=1", None, -2.5],
            "list": ["a;=b", "-c", ""],
        }
    )
    escaped = escape_formulas(frame, {"list": ";"})
    assert list(escaped) == ["'=name", "number", "mixed", "list"]
    assert escaped["'=name"].tolist()[:2] == ["'=a", "b"]
    assert pd.isna(escaped["'=name"][2])
    assert escaped["number"].tolist() == [-1, 2, 3]
    assert escaped["mixed"].tolist() == ["'=1", None, -2.5]
    assert escaped["list"].tolist() == ["a;'=b", "'-c", ""]
    assert frame["mixed"][0] == "=1"
