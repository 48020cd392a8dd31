"""Split of a table into training and validation rows, encoded as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.selection import LabelledRows
from budgetprune.workflow.tables.categories import Categories, learn_categories
from budgetprune.workflow.tables.columns import Columns
from budgetprune.workflow.tables.target import Target

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SplitRows:
    """Training and validation rows, and the meaning of their numbers.

    Attributes
    ----------
    train, validation : LabelledRows
        Features as numbers; targets are class numbers 0, 1, ... for classification.
    categories : Categories
        Numbering that was learned from the training rows.
    classes : array of shape (n_classes,), or None for regression
    """

    train: LabelledRows
    validation: LabelledRows
    categories: Categories
    classes: NDArray[Any] | None


def split_table(
    columns: Columns,
    target: Target,
    qid: NDArray[Any] | None = None,
    *,
    share: float,
    seed: int,
    dtype: Any,
) -> SplitRows:
    """Hold out rows for validation, and number categories by the targets of the other rows.

    Parameters
    ----------
    columns, target, qid : all rows
    share : share of validation rows, stratified by class; copies of a row, and queries, stay together
    seed : random seed
    dtype : type of the encoded features
    """
    is_classifier = target.task == "classification"
    classes, y = np.unique(target.y, return_inverse=True) if is_classifier else (None, target.y)
    random = np.random.RandomState(seed)
    # Category codes in any order serve to find copies of rows.
    plain = np.column_stack(
        [
            columns.frame[name].cat.codes if is_categorical else columns.frame[name]
            for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True)
        ]
    )
    val = LabelledRows(plain, y, qid=qid).drawn(share, random, by_class=is_classifier, all_classes_stay=True)
    train = np.setdiff1d(np.arange(len(y)), val)
    if not val.size:
        what = "rows" if qid is None else "rows, by whole queries,"
        raise InvalidInputError(
            f"{len(y)} {what} are too few to keep {share:.0%} of them for validation, and some of each class "
            "to train on; give more rows."
        )
    own = Columns(columns.frame.iloc[train])
    categories = learn_categories(own, y[train], is_classifier=is_classifier)

    def labelled(frame: pd.DataFrame, rows: NDArray[np.intp]) -> LabelledRows:
        query = None if qid is None else qid[rows]
        return LabelledRows(categories.encode(frame, dtype), y[rows], qid=query)

    return SplitRows(labelled(own.frame, train), labelled(columns.frame.iloc[val], val), categories, classes)
