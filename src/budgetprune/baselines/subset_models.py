"""LightGBM models on subsets of columns, and staged prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _num_samples

from budgetprune.costs import CostTable
from budgetprune.selection import Index, LabelledRows, train
from budgetprune.utils.threads import boosting_threads

LEAST_SHARE = 1e-9  # keeps logarithms of probabilities finite


@dataclass(frozen=True)
class BoostingParameters:
    """LightGBM training parameters; `others` has further ones by LightGBM's names."""

    num_leaves: int
    n_estimators: int
    learning_rate: float
    random_state: Any = None
    n_jobs: int | None = None
    others: Mapping[str, Any] = field(default_factory=dict)

    def train(self, rows: LabelledRows, columns: Index) -> SubsetModel:
        """Train a classifier on some columns; labels are the numbers 0, 1, ... of all classes."""
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(
            num_leaves=self.num_leaves,
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **{"verbose": -1, **self.others},
        )
        fitted = train(model, _some_columns(rows.X, columns), rows.y, rows.weight)
        return SubsetModel(columns, fitted.booster_, self.n_estimators, self.n_jobs)

    def short(self, rows: LabelledRows) -> BoostingParameters:
        """Return parameters with fewer rounds, to compare columns; each round has one tree per class."""
        part = self.n_estimators // (4 if rows.y.max() == 1 else 8)
        return replace(self, n_estimators=min(self.n_estimators, max(10, part)))


@dataclass(frozen=True, eq=False)
class SubsetModel:
    """A LightGBM model on some columns of X.

    Attributes
    ----------
    columns : int array
    booster : lightgbm.Booster
    n_rounds : int
        Number of leading rounds used.
    n_jobs : int or None
        Threads; None: as `boosting_threads` says.
    """

    columns: Index
    booster: Any
    n_rounds: int
    n_jobs: int | None = None

    def first_rounds(self, n_rounds: int) -> SubsetModel:
        """Return the model after fewer rounds."""
        return replace(self, n_rounds=n_rounds)

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, of shape (n_rows, n_classes)."""
        some = _some_columns(X, self.columns)
        n_threads = boosting_threads(some) if self.n_jobs is None else effective_n_jobs(self.n_jobs)
        share = np.asarray(self.booster.predict(some, num_iteration=self.n_rounds, num_threads=n_threads))
        return np.column_stack([1 - share, share]) if share.ndim == 1 else share


def _some_columns(X: Any, columns: Index) -> Any:
    """Select columns of a table, an array or a sparse matrix in a form that LightGBM accepts."""
    some = _safe_indexing(X, columns, axis=1)
    if hasattr(some, "columns"):
        return some
    if sparse.issparse(X):
        some = sparse.csr_matrix(some)
    return some if some.dtype.kind == "f" else some.astype(np.float64)


def weigh_classes(class_weight: Any, y: NDArray[Any]) -> NDArray[np.float64] | None:
    """Row weights for scikit-learn's ``class_weight``; 1 on average."""
    if class_weight is None:
        return None
    weight = compute_sample_weight(class_weight, y)
    return np.asarray(weight / weight.mean())


def margin(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the ratio of the two largest probabilities of each row."""
    second, first = np.partition(share, -2, axis=1)[:, -2:].T
    return np.asarray(np.log(first + LEAST_SHARE) - np.log(second + LEAST_SHARE))


@dataclass(frozen=True, eq=False)
class CascadeModel:
    """Models on nested columns; a row stops at the first model whose margin is large enough.

    Attributes
    ----------
    prices : CostTable
    acquired : bool array of shape (n_stages, n_sources)
        Sources acquired up to each stage.
    models : tuple of SubsetModel
    threshold : float64 array of shape (n_stages,)
        Rows with a smaller margin go on; the last stage has none.
    classes : array
    """

    prices: CostTable
    acquired: NDArray[np.bool_]
    models: tuple[SubsetModel, ...]
    threshold: NDArray[np.float64]
    classes: NDArray[Any]

    def stopped(self, X: Any) -> tuple[NDArray[np.float64], Index]:
        """Probabilities at the stage where each row stops, and the index of that stage."""
        n_rows = _num_samples(X)
        share, stage = np.empty((n_rows, self.classes.size)), np.empty(n_rows, dtype=np.intp)
        going = np.arange(n_rows)
        for k, model in enumerate(self.models):
            share[going] = model.probabilities(_safe_indexing(X, going))
            stage[going] = k
            going = going[margin(share[going]) < self.threshold[k]]
            if not going.size or k == len(self.models) - 1:
                break
        return share, stage

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        return np.asarray(self.classes[self.stopped(X)[0].argmax(axis=1)])

    def sources_used(self, X: Any) -> NDArray[np.bool_]:
        """Sources that each row acquires, of shape (n_rows, n_sources)."""
        return np.asarray(self.acquired[self.stopped(X)[1]])

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Price of these sources, of shape (n_rows,)."""
        return np.asarray(self.prices.total(self.acquired)[self.stopped(X)[1]])
