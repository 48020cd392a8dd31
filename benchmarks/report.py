"""Results of a benchmark run as data, from which the table and the JSON file are made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from budgetprune.utils.environment import machine, versions
from budgetprune.utils.files import written_atomically

PACKAGES = ("budgetprune", "numpy", "scikit-learn", "ortools")


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    name : str
        Value of `--only` that selects the row.
    what : str
    value : float
    bar : float, optional
        The value should be at most this (or `at_least`); None means that the row only informs.
    unit : str
    note : str
        Measurements that the value is computed from.
    """

    name: str
    what: str
    value: float
    bar: float | None = None
    unit: str = "x"
    note: str = ""
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        is_met = self.value >= self.bar if self.at_least else self.value <= self.bar
        return "ok" if is_met else "falls short"


@dataclass(frozen=True)
class Section:
    """Measurements of one benchmark setting: a forest on one data set."""

    setting: str
    size: str
    rows: list[Row]


@dataclass(frozen=True)
class Report:
    """Results of a run, with the machine and versions."""

    sections: list[Section]
    quick: bool
    date: str
    machine: dict[str, Any]
    versions: dict[str, str]

    @classmethod
    def of(cls, sections: list[Section], quick: bool) -> Report:
        """Add date, machine size and versions."""
        date = datetime.now(UTC).date().isoformat()
        return cls(sections, quick, date, machine(), versions(PACKAGES))

    def save(self, file: Path) -> None:
        """Write everything as JSON, atomically."""
        file.parent.mkdir(parents=True, exist_ok=True)
        content = asdict(self)
        for section, stored in zip(self.sections, content["sections"], strict=True):
            for row, line in zip(section.rows, stored["rows"], strict=True):
                line["verdict"] = row.verdict
        with written_atomically(file) as handle:
            handle.write(json.dumps(content, indent=2).encode() + b"\n")

    def table(self) -> str:
        """Format everything as one table."""
        head = ("what", "measured", "bar", "", "figures")
        body = [_cells(row) for section in self.sections for row in section.rows]
        widths = [max(len(line[k]) for line in (head, *body)) for k in range(len(head))]
        machine = f"{self.machine['cores']} cores, {self.machine['memory_gib']} GiB"
        lines = [f"{self.date}, {machine}{'; quick: far too small for the bars' if self.quick else ''}", ""]
        lines += [_line(head, widths), _line(["-" * width for width in widths], widths)]
        for section in self.sections:
            lines.append(f"{section.setting}: {section.size}")
            lines += [_line(_cells(row), widths) for row in section.rows]
        return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    bar = "" if row.bar is None else f"{'>=' if row.at_least else '<='} {row.bar:g} {row.unit}"
    return f"  {row.what}", f"{row.value:.3g} {row.unit}", bar, row.verdict, row.note


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    what, value, bar, verdict, note = cells
    columns = (
        what.ljust(widths[0]),
        value.rjust(widths[1]),
        bar.rjust(widths[2]),
        verdict.ljust(widths[3]),
        note,
    )
    return "  ".join(columns).rstrip()
