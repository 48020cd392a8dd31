"""Other rows for a model that exists: the columns that it wants, in the form in which it wants them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.costs.price_lists import listed
from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.forest import Forest
from budgetprune.workflow.tables.columns import Columns, as_numbers, finite_numbers, truths_of
from budgetprune.workflow.tables.reading import MOST_COLUMNS, Table, read_table

if TYPE_CHECKING:
    import pandas as pd


def read_table_for(
    forest: Forest,
    file: str | os.PathLike[str],
    target: str | None = None,
    *,
    max_columns: int = MOST_COLUMNS,
) -> Table:
    """Read a file whose rows a forest is asked about; categories and classes stay as they are written."""
    names, known = names_of(forest), forest.feature_categories
    as_text = [name for name, labels in zip(names, known, strict=True) if labels is not None]
    if target is not None and forest.classes is not None and forest.classes.dtype.kind == "U":
        as_text.append(target)
    return read_table(file, as_text=as_text, max_columns=max_columns)


def names_of(forest: Forest) -> tuple[str, ...]:
    """Names of the features, or ``x0``, ``x1``, ..."""
    return forest.names


def rows_for(forest: Forest, table: Table, *, target: str | None = None) -> pd.DataFrame:
    """Pick the columns that a forest tests, in its order; columns that it does not know are left alone.

    A column that no split tests may be absent: nobody has to buy what is not used. Of a file in the svmlight
    format, features that are absent are zero.

    Parameters
    ----------
    forest : Forest
    table : Table
    target : a column that is no feature, for forests that know no names: they take columns as they come
    """
    names, frame = names_of(forest), table.frame
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
    return _picked(table, names, known, {names[k] for k in tested}, filler)


def rows_like(columns: Columns, table: Table) -> pd.DataFrame:
    """Pick the columns of rows that a model is going to be trained on, from other rows."""
    labels = tuple(
        columns.frame[name].cat.categories.tolist() if is_categorical else None
        for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True)
    )
    return _picked(table, columns.names, labels, set(columns.names), np.nan)


def _picked(
    table: Table,
    names: Sequence[str],
    categories: Sequence[Sequence[Any] | None],
    needed: Collection[str],
    filler: float,
) -> pd.DataFrame:
    """The columns called `names`, as numbers or categories; what is not needed may be absent."""
    import pandas as pd

    frame = table.frame
    absent = [name for name in names if name in needed and name not in frame.columns]
    if table.kind == "svmlight":
        filler = 0.0
    elif absent:
        raise InvalidInputError(
            f"{table.file} lacks {listed(map(repr, absent), at_most=20)}, which the model asks for."
        )
    picked: dict[str, Any] = {}
    for name, labels in zip(names, categories, strict=True):
        if name not in frame.columns:
            picked[name] = np.full(len(frame), filler)
        elif labels is None:
            picked[name] = finite_numbers(table, name)
        else:
            picked[name] = spelled = _spelled_as(frame[name], labels)
            _tell_of_unknown(table, name, frame[name].notna() & ~spelled.isin(list(labels)))
    return pd.DataFrame(picked, index=frame.index)


def _tell_of_unknown(table: Table, name: str, is_unknown: pd.Series[bool]) -> None:
    if is_unknown.any():
        example = str(table.frame[name][is_unknown].iloc[0])
        warnings.warn(
            f"column {name!r} of {table.file}: {is_unknown.sum():,} of {len(is_unknown):,} values are none "
            f"of the categories that the model knows, and count as missing ({example!r}, say).",
            BudgetWarning,
            stacklevel=2,
        )


def _spelled_as(column: pd.Series[Any], labels: Sequence[Any]) -> pd.Series[Any]:
    """Categories of the kind that a forest knows: truth values, numbers or text; others are missing."""
    kinds = {type(label) for label in labels}
    if kinds == {bool}:
        return truths_of(column)
    if kinds and kinds <= {int, float}:
        return as_numbers(column)
    return column.astype(object).where(column.isna(), column.astype(str))
