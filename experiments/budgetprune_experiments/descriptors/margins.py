"""Features of a descriptor: SVM margins of each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from budgetprune.errors import InvalidInputError

N_FOLDS = 5
# Columns have variance 1, so the squared norm of a row is about the number of columns. C is divided by that
# number, so that the regularisation is equally strong for long and short descriptors.
STRICTNESS = 4.0


def margin_svm(n_columns: int, seed: int) -> Pipeline:
    """Linear SVMs, one class against the rest."""
    svm = LinearSVC(C=STRICTNESS / n_columns, dual="auto", max_iter=20_000, random_state=seed)
    return make_pipeline(StandardScaler(), svm)


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of one descriptor, a column per class, for the rows that trained it and for other rows."""

    train: NDArray[np.float32]
    others: list[NDArray[np.float32]]


def cross_fitted_margins(
    train: NDArray[Any], y: NDArray[Any], others: Sequence[NDArray[Any]], seed: int, model: Any = None
) -> Margins:
    """Compute margins that are cross-fitted on training rows.

    A model's margins on its own training rows are too large, and a forest trained on them would overfit. So
    the margins of a training row are from a model that was trained without its fold; those of other rows are
    from a model trained on all training rows.

    Parameters
    ----------
    train, y : training rows, all classes among them
    others : rows that are not used for training
    seed : divides the rows into folds
    model : classifier with a decision function, optional
        By default linear SVMs.
    """
    classes, counts = np.unique(y, return_counts=True)
    if classes.size < 3 or counts.min() < N_FOLDS:
        raise InvalidInputError(
            f"cross-fitting needs three classes or more, each with {N_FOLDS} training rows; here are "
            f"{classes.size} classes, and the rarest has {counts.min()} rows."
        )
    model = margin_svm(train.shape[1], seed) if model is None else model
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    out_of_fold = cross_val_predict(model, train, y, cv=folds, method="decision_function")
    model.fit(train, y)
    return Margins(
        out_of_fold.astype(np.float32),
        [np.asarray(model.decision_function(rows), dtype=np.float32) for rows in others],
    )
