"""From the columns of a table to training and validation rows that are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.selection import LabelledRows
from budgetprune.workflow.tables.categories import Categories, learn_categories
from budgetprune.workflow.tables.columns import Columns
from budgetprune.workflow.tables.target import Target


@dataclass(frozen=True, eq=False)
class Divided:
    """Rows with their roles, and what their numbers stand for.

    Attributes
    ----------
    train, validation : LabelledRows
        Features as numbers; classes as 0, 1, ..., or targets.
    categories : Categories
        How those of the training rows are numbered.
    classes : array of shape (n_classes,), or None for regression
    """

    train: LabelledRows
    validation: LabelledRows
    categories: Categories
    classes: NDArray[Any] | None


def divide_table(columns: Columns, target: Target, *, share: float, seed: int, dtype: Any) -> Divided:
    """Keep a share of the rows for validation, and number categories as the other rows answer.

    Parameters
    ----------
    columns, target : of all rows
    share : of the rows that is kept from growing trees: of each class alike, copies of a row together
    seed : which rows
    dtype : of the features
    """
    is_classifier = target.task == "classification"
    classes, y = np.unique(target.y, return_inverse=True) if is_classifier else (None, target.y)
    random = np.random.RandomState(seed)
    # Categories in any order: this is about which rows are copies of each other.
    plain = np.column_stack(
        [
            columns.frame[name].cat.codes if is_categorical else columns.frame[name]
            for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True)
        ]
    )
    val = LabelledRows(plain, y).drawn(share, random, by_class=is_classifier, all_classes_stay=True)
    train = np.setdiff1d(np.arange(len(y)), val)
    if not val.size:
        raise InvalidInputError(
            f"{len(y)} rows are too few to keep {share:.0%} of them for validation, and some of each class "
            "to train on; give more rows."
        )
    own = Columns(columns.frame.iloc[train])
    categories = learn_categories(own, y[train], is_classifier=is_classifier)
    return Divided(
        LabelledRows(categories.encode(own.frame, dtype), y[train]),
        LabelledRows(categories.encode(columns.frame.iloc[val], dtype), y[val]),
        categories,
        classes,
    )
