"""Reading and validation of input files for fit, prune and costs init."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError
from budgetprune.workflow.tables import (
    Columns,
    PricedColumns,
    Table,
    Target,
    Task,
    read_price_list,
    read_target,
    sort_columns,
)
from budgetprune.workflow.tables import read_table as read_file
from budgetprune.workflow.tables.reading import LABEL
from budgetprune.workflow.tables.target import check_target


@dataclass(frozen=True, eq=False)
class Question:
    """Table, target, features, and prices of the features."""

    table: Table
    target: Target
    columns: Columns
    prices: PricedColumns


def target_name(data: Path, table: Table, name: str | None) -> str:
    """Return the name of the target; only svmlight files have a default."""
    if name is not None:
        return name
    if table.kind == "svmlight":
        return LABEL
    raise InvalidInputError(f"say which column of {data} is predicted: --target COLUMN.")


def read_question(
    console: Console,
    data: Path,
    *,
    target: str | None,
    costs: Path | None,
    task: Task | None,
    categorical: Sequence[str],
    drop: Sequence[str],
    max_columns: int,
) -> Question:
    """Read and validate rows and prices."""
    table, name = _read(console, data, target, categorical, drop, max_columns)
    wanted = read_target(table, name, task)
    columns = sort_columns(table, without={name, *drop}, categorical=categorical)
    prices = read_prices(costs, columns.names, name, drop)
    for doubt in columns.doubts():
        console.note(doubt)
    return Question(table, wanted, columns, prices)


def read_columns(
    console: Console,
    data: Path,
    *,
    target: str | None,
    categorical: Sequence[str],
    drop: Sequence[str],
    max_columns: int,
) -> tuple[Columns, str]:
    """Read the features of a table and the name of its target."""
    table, name = _read(console, data, target, categorical, drop, max_columns)
    return sort_columns(table, without={name, *drop}, categorical=categorical), name


def _read(
    console: Console,
    data: Path,
    target: str | None,
    categorical: Sequence[str],
    drop: Sequence[str],
    max_columns: int,
) -> tuple[Table, str]:
    with console.stage(f"reading {data}"):
        # Class labels stay as written: "01" is not a number.
        as_text = [*categorical, *([] if target is None else [target])]
        table = read_file(data, as_text=as_text, max_columns=max_columns)
    table.check_columns(categorical, "--categorical")
    table.check_columns(drop, "--drop")
    name = target_name(data, table, target)
    check_target(table, name)
    for option, columns in (("--categorical", categorical), ("--drop", drop)):
        if name in columns:
            raise InvalidInputError(f"{option} {name} is the target, which is no feature; leave it out.")
    return table, name


def read_prices(costs: Path | None, names: Sequence[str], target: str, drop: Sequence[str]) -> PricedColumns:
    """Read the prices of all features, or use 1 for each."""
    if costs is None:
        return PricedColumns(dict.fromkeys(names, 1.0))
    prices = read_price_list(costs)
    prices.check(names, target=target, dropped=drop, file=costs)
    return prices
