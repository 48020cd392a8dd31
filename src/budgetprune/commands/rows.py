"""What fit and prune do before anything is computed: read all files, and refuse what cannot work."""

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
    """A table, the column that is predicted, and what each of the others costs."""

    table: Table
    target: Target
    columns: Columns
    prices: PricedColumns


def target_name(data: Path, table: Table, name: str | None) -> str:
    """The column that is predicted; only svmlight files have one that everyone knows."""
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
    """Read rows and prices; refuse all that is wrong with them."""
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
    """Read rows, whatever they predict: the features, and the name of the target."""
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
        # Classes are called what the file calls them: "01" is no number.
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
    """Prices of all features: those of a list, or 1 for each."""
    if costs is None:
        return PricedColumns(dict.fromkeys(names, 1.0))
    prices = read_price_list(costs)
    prices.check(names, target=target, dropped=drop, file=costs)
    return prices
