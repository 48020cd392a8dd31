"""Base class of estimators on nested subsets of sources: elimination, models, choice for a budget."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from budgetprune.baselines.base import AcceptsMissingValues, Priced
from budgetprune.baselines.cegb import import_lightgbm
from budgetprune.baselines.elimination import Needs, eliminate
from budgetprune.baselines.grower_forest import find_several_classes
from budgetprune.baselines.grower_parameters import positive_rate, whole_number
from budgetprune.baselines.subset_models import BoostingParameters, CascadeModel, SubsetModel, weigh_classes
from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.selection import Index, LabelledRows, split_rows
from budgetprune.utils.numbers import between_zero_and_one, check_budget_parameter
from budgetprune.utils.validation import labels_of, refuse_infinities, rows_of

# Tolerance for rounding of average costs.
ROUNDING = 1e-9
_OWN_PARAMETERS = ("num_leaves", "n_estimators", "learning_rate", "random_state", "n_jobs")


@dataclass(frozen=True, eq=False)
class Subset:
    """Subset of the sources.

    Attributes
    ----------
    sources : tuple of str
    columns : int array
        Features available from these sources.
    price : float
    accuracy : float
        On validation rows, of a model that is trained on the other rows.
    """

    sources: tuple[str, ...]
    columns: Index
    price: float
    accuracy: float


class NestedEstimator(AcceptsMissingValues, ClassifierMixin, Priced, BaseEstimator):  # type: ignore[misc]
    """Base class of `FeatureSubsets` and `Cascade`, whose `_choose` makes a `CascadeModel`."""

    def __init__(
        self,
        *,
        costs: Any = None,
        budget: float | None = None,
        num_leaves: int = 31,
        n_estimators: int = 150,
        learning_rate: float = 0.1,
        validation_fraction: float = 0.3,
        lightgbm_params: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.num_leaves = num_leaves
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.lightgbm_params = lightgbm_params
        self.random_state = random_state
        self.n_jobs = n_jobs

    # --- Fitting --------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Eliminate sources on part of the rows, choose on the others, and train the models on all rows.

        Parameters
        ----------
        X, y : array-like
            Two or more classes.
        """
        import_lightgbm(type(self).__name__)
        self._check_parameters()
        X = rows_of(self, X, reset=True)
        refuse_infinities(X)
        self.classes_, label = find_several_classes(labels_of(self, X, y))
        prices = self._resolve_costs()
        params = dict(self.lightgbm_params or {})
        weight = weigh_classes(params.pop("class_weight", None), self.classes_[label])
        parameters = BoostingParameters(
            self.num_leaves, self.n_estimators, self.learning_rate, self.random_state, self.n_jobs, params
        )
        rows = LabelledRows(X, label, weight)
        train, val = self._split(rows)
        subsets = eliminate(prices, train, val, parameters)
        self.order_ = subsets.order
        columns = subsets.thinned().columns
        self._prices, self._acquired = prices, np.array([Needs(prices).acquired(each) for each in columns])
        self._refuse_too_small_budget()
        models = [parameters.train(train, each) for each in columns]
        self._learn([model.probabilities(val.X) for model in models], columns, val)
        self._models = tuple(parameters.train(rows, each) for each in columns)
        self._choose()
        return self

    def _split(self, rows: LabelledRows) -> tuple[LabelledRows, LabelledRows]:
        random = check_random_state(self.random_state)
        try:
            return split_rows(rows, self.validation_fraction, random, by_class=True)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"n_samples={len(rows)}: too few rows to keep {self.validation_fraction:.0%} of them for "
                "validation and some of each class for training; give more rows."
            ) from error

    def _learn(
        self,
        shares: Sequence[NDArray[np.float64]],
        columns: Sequence[Index],
        val: LabelledRows,
    ) -> None:
        """Learn from the probabilities that each subset's model gives to validation rows."""
        self.subsets_ = tuple(
            Subset(
                tuple(np.array(self._prices.source_names, dtype=object)[acquired]),
                each,
                float(price),
                float(np.average(share.argmax(axis=1) == val.y, weights=val.weight)),
            )
            for share, each, acquired, price in zip(
                shares, columns, self._acquired, self._prices.total(self._acquired), strict=True
            )
        )

    def _check_parameters(self) -> None:
        whole_number("n_estimators", self.n_estimators, 1)
        whole_number("num_leaves", self.num_leaves, 2)
        positive_rate(self.learning_rate)
        between_zero_and_one("validation_fraction", self.validation_fraction, ends=False)
        check_budget_parameter(self.budget)
        params = self.lightgbm_params
        if params is not None and not isinstance(params, dict):
            raise InvalidInputError(f"lightgbm_params must be a dict or None, not {params!r}.")
        for name in _OWN_PARAMETERS:
            if name in (params or {}):
                raise InvalidInputError(
                    f"lightgbm_params contains {name!r}, which is a separate parameter: give {name}=..."
                )

    # --- Choosing -------------------------------------------------------------------------------------------

    _prices: CostTable
    _acquired: NDArray[np.bool_]
    _models: tuple[SubsetModel, ...]
    _chosen: CascadeModel

    @abstractmethod
    def _choose(self) -> None:
        """Set `_chosen`, and the attributes that describe it, from the parameters."""

    def with_budget(self, budget: float | None) -> Self:
        """Return the fitted estimator for another budget; nothing is trained.

        Parameters
        ----------
        budget : float or None
            Average cost of a prediction; None: the most accurate choice.
        """
        return self._with(budget=budget)

    def _with(self, **parameters: Any) -> Self:
        check_is_fitted(self)
        other = copy.copy(self)
        other.set_params(**parameters)
        other._check_parameters()
        other._refuse_too_small_budget()
        other._choose()
        return other

    def _refuse_too_small_budget(self) -> None:
        price = self._prices.total(self._acquired[:1])[0]
        if self.budget is not None and price > self.budget * (1 + ROUNDING):
            names = np.array(self._prices.source_names, dtype=object)[self._acquired[0]]
            raise InvalidInputError(
                f"budget={self.budget:g} is too small: the cheapest subset of sources is "
                f"{', '.join(map(repr, names))}, whose price is {price:g}; give a budget of at least that."
            )

    def _cascade_model(self, stages: Sequence[int], threshold: ArrayLike) -> CascadeModel:
        return CascadeModel(
            self._prices,
            self._acquired[list(stages)],
            tuple(self._models[k] for k in stages),
            np.asarray(threshold, dtype=np.float64),
            self.classes_,
        )

    # --- Predicting -----------------------------------------------------------------------------------------

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X = rows_of(self, X)
        refuse_infinities(X)
        return X

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        X = self._rows(X)
        return self._chosen.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, of shape (n_rows, n_classes)."""
        X = self._rows(X)
        return self._chosen.stopped(X)[0]

    def sources_used(self, X: Any) -> NDArray[np.bool_]:
        """Mark the sources that each row acquires, of shape (n_rows, n_sources)."""
        X = self._rows(X)
        return self._chosen.sources_used(X)

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Compute the cost of these sources for each row, of shape (n_rows,)."""
        X = self._rows(X)
        return self._chosen.acquisition_cost(X)


def best_within(cost: NDArray[np.float64], accuracy: NDArray[np.float64], budget: float | None) -> int:
    """Index of the most accurate choice within the budget; the cheapest on ties."""
    is_affordable = cost <= (np.inf if budget is None else budget * (1 + ROUNDING))
    return int(np.lexsort((cost, -accuracy, ~is_affordable))[0])
