"""`BudgetPruneRegressor`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils import check_array

from budgetprune.errors import BudgetWarning, UnsupportedModelError
from budgetprune.estimators import docs as _docs
from budgetprune.estimators.base import BudgetPruneBase
from budgetprune.forest import Forest, is_ranking_model
from budgetprune.ranking import ndcg_scorer
from budgetprune.selection import PrunedRegressor


@_docs.regressor
class BudgetPruneRegressor(RegressorMixin, PrunedRegressor, BudgetPruneBase):  # type: ignore[misc]
    """Regressor on a budget: an ensemble of trees, pruned for an average cost per prediction.

    Every feature costs something to obtain when a prediction is made, and a trained ensemble needs most of
    them. `fit` trains the ensemble, prunes all its trees jointly and exactly (see `PruningProblem`), chooses
    the pruning for the budget, and refits the remaining leaves.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {notes}

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = make_regression(500, n_features=10, n_informative=4, random_state=0)
    >>> model = BudgetPruneRegressor(RandomForestRegressor(20), budget=3, random_state=0).fit(X, y)
    >>> bool(model.acquisition_cost(X).mean() < 4)
    True
    >>> cheaper = model.with_budget(2.5)
    >>> bool(cheaper.cost_ <= 2.5)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        costs: Any = None,
        budget: float | None = None,
        lam: float | None = None,
        error: str = "auto",
        loss: str | None = None,
        refit: str | None = "auto",
        ridge: float | str = "auto",
        counting: str = "full",
        slack: float | str = 0.0,
        tolerance: float | None = None,
        validation_fraction: float = 0.3,
        scoring: Any = None,
        solver: str = "parametric",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        needs: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            costs=costs,
            budget=budget,
            lam=lam,
            error=error,
            loss=loss,
            refit=refit,
            ridge=ridge,
            counting=counting,
            slack=slack,
            validation_fraction=validation_fraction,
            scoring=scoring,
            solver=solver,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            needs=needs,
        )
        self.tolerance = tolerance

    _by_class = False
    _refits = ("squared", "own")
    _default_scorer = staticmethod(RegressorMixin.score)

    def _scorer(self, *, has_queries: bool = False) -> Callable[..., float]:
        if self.scoring is None and has_queries:
            return ndcg_scorer()
        return super()._scorer(has_queries=has_queries)

    def _import_forest(self, model: Any, *, has_queries: bool) -> Forest:
        if is_ranking_model(model) and self.scoring is None and not has_queries:
            warnings.warn(
                f"this {type(model).__name__} was trained to rank. Its scores order the rows of a "
                "query, so R² says nothing about it: pass qid to fit, the query of each row, and choices are "
                "made by NDCG.",
                BudgetWarning,
                stacklevel=3,
            )
        return super()._import_forest(model, has_queries=has_queries)

    def _default_estimator(self) -> Any:
        return RandomForestRegressor()

    def _check_y(self, y: NDArray[Any]) -> NDArray[Any]:
        targets: NDArray[Any] = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return targets

    def _check_type(self, estimator_type: str | None, name: str) -> None:
        if estimator_type == "classifier":
            raise UnsupportedModelError(f"{name} predicts classes; use BudgetPruneClassifier for it.")

    def predict_interval(self, X: Any, level: float = 0.9) -> NDArray[np.float64]:
        """Return intervals that contain the targets of a share `level` of new rows, of shape (n_rows, 2).

        Split-conformal intervals from cross-fitted residuals of the validation rows, all of the same width;
        see `BudgetPredictor.predict_interval`. `fit` records them for its budget, without queries; after
        `with_budget`, there are none.
        """
        return self.predictor().predict_interval(self._check_rows(X), level)

    score = BudgetPruneBase.score  # the one of RegressorMixin has no `scoring`
