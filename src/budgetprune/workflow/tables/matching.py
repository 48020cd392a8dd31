"""Rows for an existing model: its columns, in its order and with its categories."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.costs import join_first
from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.forest import Forest
from budgetprune.preprocessing import InputColumns
from budgetprune.workflow.tables.columns import Columns, as_booleans, as_numbers, finite_numbers
from budgetprune.workflow.tables.limits import MOST_COLUMNS
from budgetprune.workflow.tables.reading import Table, open_table

if TYPE_CHECKING:
    import pandas as pd


def read_table_for(
    forest: Forest | InputColumns,
    table: Any,
    target: str | None = None,
    qid: str | None = None,
    *,
    max_columns: int = MOST_COLUMNS,
    sheet: str | None = None,
    sheet_option: str = "sheet",
) -> Table:
    """Read rows for a forest, or raw columns, as `open_table` does.

    Categories, classes and queries stay as written.
    """
    names, known = forest.names, forest.feature_categories
    as_text = [name for name, labels in zip(names, known, strict=True) if labels is not None]
    if target is not None and forest.classes is not None and forest.classes.dtype.kind == "U":
        as_text.append(target)
    if qid is not None:
        as_text.append(qid)
    return open_table(table, as_text=as_text, max_columns=max_columns, sheet=sheet, sheet_option=sheet_option)


def rows_for(forest: Forest | InputColumns, table: Table, *, target: str | None = None) -> pd.DataFrame:
    """Return the features of a forest, in its order; other columns are ignored.

    A column that no split tests may be absent. Absent features of an svmlight file are zero.

    Parameters
    ----------
    forest : Forest, or the InputColumns of a model with a preprocessing
    table : Table
    target : column that is not a feature; a forest without feature names takes all others by position
    """
    names, frame = forest.names, table.frame
    if forest.feature_names is None and not set(names) & set(frame.columns):
        columns = [name for name in frame.columns if name != target]
        if len(columns) != forest.n_features:
            raise InvalidInputError(
                f"{table.file} has {len(columns)} columns, but the model has {forest.n_features} features "
                "and no names for them."
            )
        table = replace(table, frame=frame[columns].set_axis(list(names), axis=1))
    tested = forest.used_features.tolist()
    filler = 0.0 if forest.missing == "forbidden" else np.nan
    known = forest.feature_categories
    needed = {names[k] for k in tested}
    counts_as = getattr(forest, "unknown_counts_as", "as missing")
    return _select(table, names, known, needed, filler, forest.other_category, counts_as)


def rows_like(columns: Columns, table: Table) -> pd.DataFrame:
    """Return the training columns from a table of other rows."""
    labels = tuple(
        columns.frame[name].cat.categories.tolist() if is_categorical else None
        for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True)
    )
    return _select(table, columns.names, labels, set(columns.names), np.nan)


def _select(
    table: Table,
    names: Sequence[str],
    categories: Sequence[Sequence[Any] | None],
    needed: Collection[str],
    filler: float,
    other: str | None = None,
    counts_as: str = "as missing",
) -> pd.DataFrame:
    """Return the columns `names` as numbers or categories; columns that are not `needed` may be absent.

    `other` stands for unknown categories where it is one of them; see `Forest`. Without it, they count as
    `counts_as` says.
    """
    import pandas as pd

    frame = table.frame
    absent = [name for name in names if name in needed and name not in frame.columns]
    if table.kind == "svmlight":
        filler = 0.0
    elif absent:
        raise InvalidInputError(
            f"{table.file} lacks {join_first(map(repr, absent), at_most=20)}, which the model needs."
        )
    selected: dict[str, Any] = {}
    for name, labels in zip(names, categories, strict=True):
        if name not in frame.columns:
            selected[name] = np.full(len(frame), filler)
        elif labels is None:
            selected[name] = finite_numbers(table, name)
        else:
            selected[name] = converted = _converted_to(
                frame[name], [label for label in labels if label != other]
            )
            is_unknown = frame[name].notna() & ~converted.isin(list(labels))
            if labels:  # else any text is known
                meaning = f"as {other!r}" if other in labels else counts_as
                _warn_about_unknown(table, name, is_unknown, meaning)
    return pd.DataFrame(selected, index=frame.index)


def _warn_about_unknown(table: Table, name: str, is_unknown: pd.Series[bool], counts_as: str) -> None:
    if is_unknown.any():
        example = str(table.frame[name][is_unknown].iloc[0])
        warnings.warn(
            f"column {name!r} of {table.file}: {is_unknown.sum():,} of {len(is_unknown):,} values are none "
            f"of the categories that the model knows, and count {counts_as} ({example!r}, say).",
            BudgetWarning,
            stacklevel=2,
        )


def _converted_to(column: pd.Series[Any], labels: Sequence[Any]) -> pd.Series[Any]:
    """Convert a column to the type of a forest's categories: booleans, numbers or strings."""
    kinds = {type(label) for label in labels}
    if kinds == {bool}:
        return as_booleans(column)
    if kinds and kinds <= {int, float}:
        return as_numbers(column)
    return column.astype(object).where(column.isna(), column.astype(str))
