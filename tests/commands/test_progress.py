"""Progress on a terminal: no blank lines, and bars that end at 100 %."""

from __future__ import annotations

import io
import re
import sys

import numpy as np
import pandas as pd
import pytest

from budgetprune import FitOptions, fit_table
from budgetprune.commands.console import Console


class Terminal(io.StringIO):
    """Standard error that claims to be a terminal."""

    def isatty(self):
        """Return True."""
        return True

    @property
    def lines(self):
        """Lines as a terminal shows them, after carriage returns and movements of the cursor."""
        shown, row, column = [""], 0, 0
        for part in re.findall(r"\x1b\[A|[\r\n]|[^\x1b\r\n]+", self.getvalue()):
            if part == "\r":
                column = 0
            elif part == "\n":
                row, column = row + 1, 0
                shown += [""] * (row + 1 - len(shown))
            elif part == "\x1b[A":
                row -= 1
            else:
                before, after = shown[row].ljust(column)[:column], shown[row][column + len(part) :]
                shown[row] = before + part + after
                column += len(part)
        return [line.rstrip() for line in shown]


def open_terminal(monkeypatch):
    """Replace standard error until the test ends; pytest replaces it before each test."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    return found


def test_bars_within_bars_leave_no_blank_lines(monkeypatch):
    terminal = open_terminal(monkeypatch)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    table["y"] = table["a"] + table["b"] * table["c"] > 0
    fit_table(
        table,
        "y",
        budget=2,
        model="random-forest",
        options=FitOptions(n_trees=5),
        observer=Console(),
    )
    *lines, last = terminal.lines
    assert last == ""
    assert all(lines), lines
    assert any(re.match(r"choosing: 100%.* (\d+)/\1 ", line) for line in lines), lines


@pytest.mark.parametrize("bars", [False, True])
def test_stages_end_their_lines(monkeypatch, bars):
    terminal = open_terminal(monkeypatch)
    console = Console()
    with console.stage("growing", bars=bars):
        if bars:
            print("bar: 100%", file=sys.stderr)
    with pytest.raises(OSError, match="full"), console.stage("pruning", bars=bars):
        raise OSError("full")
    console.note("the end")
    grown = ["growing ...", "bar: 100%", "... 0.0 s"] if bars else ["growing ... 0.0 s"]
    assert terminal.lines == [*grown, "pruning ...", "note: the end", ""]
