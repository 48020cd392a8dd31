"""What a fitted estimator knows beyond its predictions: costs, sources, and the way back."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.estimators.parameters import PROBABILITIES
from budgetprune.forest import Forest
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem.acquisition import sources_used
from budgetprune.problem.pruning import Pruning
from budgetprune.refit import Refit, Sample
from budgetprune.selection.stopping import Stopping
from budgetprune.utils.validation import rows_of


class Known(NamedTuple):
    """Rows whose scores were computed elsewhere, and what is answered early if that may differ."""

    X: Any
    scores: NDArray[np.float64]
    answers: NDArray[Any] | None


class PrunedForest:
    """The part of an estimator that a pruned forest and a price list are enough for."""

    counting: str
    slack_: float
    _made: Pruning | Refit
    _prices: CostTable
    _sample: Sample | None
    _stopping: Stopping | None
    _known: Known | None = None

    @property
    def _threshold(self) -> float | None:
        """Only classifiers have one."""
        return getattr(self, "threshold", None)

    @property
    def _tolerance(self) -> float | None:
        """Only regressors have one."""
        return getattr(self, "tolerance", None)

    @property
    def forest_(self) -> Forest:
        """The pruned forest."""
        if "_made" not in self.__dict__:
            raise AttributeError("forest_ is not there before fit.")
        return self._made.forest

    @property
    def _interpreter(self) -> Forest:
        """A forest that turns scores into answers as `forest_` does; `forest_` itself may not exist yet."""
        return self._made.unpruned if isinstance(self._made, Pruning) else self._made.forest

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        if self._known is not None and self._known.X is X:
            if self._known.answers is not None:
                raise InvalidInputError(PROBABILITIES)
            return self._known.scores
        return self.forest_.scores(self._rows(X))

    def _decided_answers(self, X: Any) -> NDArray[Any] | None:
        """Answers of predictions that stop early, if these may differ from the plain ones."""
        check_is_fitted(self)
        if self._known is not None and self._known.X is X:
            return self._known.answers
        if self.counting == "full" or not (self.slack_ > 0 or self._tolerance):
            return None
        return self.predictor().simulate(self._rows(X)).label

    def predictor(self, *, max_cost: float | None = None) -> BudgetPredictor:
        """Make what predicts one example at a time, source by source, and stops once it is decided.

        Parameters
        ----------
        max_cost : float, optional
            What one example may cost at most; see `BudgetPredictor`.
        """
        check_is_fitted(self)
        return BudgetPredictor(
            self.forest_,
            self._prices,
            slack=self.slack_,
            max_cost=max_cost,
            threshold=self._threshold,
            tolerance=self._tolerance,
        )

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        """Return rows whose features are those of the first ones (`reset`); tables stay tables."""
        return rows_of(self, X, reset=reset)

    def sources_used(self, X: Any) -> NDArray[np.bool_]:
        """Find which sources each row needs, of shape (n_rows, n_sources); see `source_names_`.

        Every source on its paths through all trees, except those without a price; with
        ``counting="decided"`` those that it acquires until it is decided.
        """
        check_is_fitted(self)
        if self.counting == "decided":
            return self.predictor().simulate(self._rows(X)).acquired
        return sources_used(self.forest_, self._prices, self._rows(X))

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Add up what the sources of each row cost, of shape (n_rows,); `counting` says which sources."""
        used = self.sources_used(X)
        return self._prices.total(used)

    @property
    def source_names_(self) -> tuple[str, ...]:
        """What is paid for: the columns of `sources_used`."""
        check_is_fitted(self)
        return self._prices.source_names

    def to_sklearn(self) -> Any:
        """Turn the pruned ensemble into an ordinary estimator of scikit-learn, of the class it was before.

        A ``refit="softmax"`` closes this way, because no forest of scikit-learn sums logarithms; so does a
        `threshold`, which only this estimator knows of. Ensembles of other libraries go back there:
        ``forest_.to_lightgbm()``, ``forest_.to_xgboost()``.
        """
        check_is_fitted(self)
        return self.forest_.to_sklearn()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_made")

    def __copy__(self) -> Self:
        # Not by way of `__getstate__`, which leaves out the rows.
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def __getstate__(self) -> dict[str, Any]:
        # Pickles hold no rows: they would be large, and are nobody's business where a model is sent.
        state = cast(dict[str, Any], super().__getstate__()).copy()
        state |= {name: None for name in ("_sample", "_stopping") if name in state}
        return state
