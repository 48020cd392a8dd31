"""Rows of a table for the model at the end of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.preprocessing import InputColumns, Preprocessing
from budgetprune.workflow.tables import Table, rows_for

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TablePreprocessing:
    """Preprocessing whose raw columns are those of a table.

    Attributes
    ----------
    preprocessing : Preprocessing
    forest : Forest
    """

    preprocessing: Preprocessing
    forest: Forest

    @property
    def inputs(self) -> InputColumns:
        """Raw columns that the model needs."""
        return InputColumns.of(self.preprocessing, self.forest)

    def encode(self, table: Table) -> NDArray[np.float64]:
        """Return the encoded features of a table."""
        return self.preprocessing.rows_for(self.forest, rows_for(self.inputs, table))


def first_inputs(transformer: Any, forest: Forest, needs: Mapping[str, Any] | None) -> InputColumns:
    """Describe the raw columns before any row is read, as far as the transformer tells."""
    try:
        found = Preprocessing.from_sklearn(transformer, needs=needs).for_forest(forest)
    except InvalidInputError:  # rows are needed, or it will be raised again
        names = tuple(map(str, getattr(transformer, "feature_names_in_", ())))
        nothing = np.empty(0, dtype=np.intp)
        return InputColumns(names, names or None, (None,) * len(names), nothing, forest.classes)
    return InputColumns.of(found, forest)


def match_table(
    transformer: Any,
    forest: Forest,
    needs: Mapping[str, Any] | None,
    table: Table,
    *,
    without: Sequence[str],
) -> TablePreprocessing:
    """Translate a fitted transformer, with the names and some rows of a table.

    Parameters
    ----------
    transformer : fitted transformer
    forest : model that takes its features
    needs : see `Preprocessing.from_sklearn`
    table : rows
    without : columns that are no features
    """
    named = [str(name) for name in getattr(transformer, "feature_names_in_", ())]
    rows = _raw_rows(transformer, forest, needs, table, named or None, without)
    found = Preprocessing.from_sklearn(transformer, rows if named else rows.to_numpy(), needs=needs)
    if not found.has_names:
        found = replace(found, raw_names=tuple(map(str, rows.columns)), has_names=True)
    head = transformer.transform(rows[:1] if named else rows[:1].to_numpy())
    return TablePreprocessing(found.for_forest(forest, is_sparse=issparse(head)), forest)


def _raw_rows(
    transformer: Any,
    forest: Forest,
    needs: Mapping[str, Any] | None,
    table: Table,
    named: list[str] | None,
    without: Sequence[str],
) -> pd.DataFrame:
    """Return rows for the transformer: categories as it knows them, everything else as it is."""
    columns = [name for name in table.frame.columns if name not in without] if named is None else named
    absent = [name for name in columns if name not in table.frame.columns]
    if absent:
        raise InvalidInputError(f"{table.file} lacks {absent[0]!r}, which the pipeline needs.")
    inputs = first_inputs(transformer, forest, needs)
    if named is None and inputs.names:
        if len(columns) != inputs.n_features:
            raise InvalidInputError(
                f"the pipeline has {inputs.n_features} raw columns and no names for them, but "
                f"{table.file} has "
                f"{len(columns)} columns beside the target; give it the columns of training, in their order."
            )
        inputs = replace(inputs, names=tuple(columns), feature_names=tuple(columns))
    known = dict(zip(inputs.names, inputs.feature_categories, strict=True))
    if any(labels is not None for labels in known.values()):
        everything = replace(inputs, used_features=np.arange(inputs.n_features))
        return rows_for(everything, table)[columns]
    return table.frame[columns]
