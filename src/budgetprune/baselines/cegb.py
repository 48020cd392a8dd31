"""CEGB: LightGBM's cost-efficient gradient boosting."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array

from budgetprune.baselines.base import AcceptsMissingValues, PricedBoosting, PricedForestClassifier
from budgetprune.baselines.grower_forest import find_several_classes
from budgetprune.baselines.grower_parameters import positive_rate, whole_number
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.selection import train
from budgetprune.utils.numbers import at_least_zero
from budgetprune.utils.validation import labels_of, refuse_infinities, rows_of, weights_of

Penalty = Literal["lazy", "coupled"]


class _CEGB(AcceptsMissingValues, PricedBoosting, BaseEstimator):  # type: ignore[misc]
    """Base class of the classifier and the regressor."""

    def __init__(
        self,
        penalty: Penalty = "lazy",
        *,
        tradeoff: float = 1.0,
        costs: Any = None,
        n_estimators: int = 100,
        num_leaves: int = 31,
        learning_rate: float = 0.1,
        min_child_weight: float = 1e-3,
        min_child_samples: int = 20,
        reg_lambda: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.penalty = penalty
        self.tradeoff = tradeoff
        self.costs = costs
        self.n_estimators = n_estimators
        self.num_leaves = num_leaves
        self.learning_rate = learning_rate
        self.min_child_weight = min_child_weight
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train LightGBM with feature costs.

        Parameters
        ----------
        X, y : array-like
        sample_weight : array-like, optional
        """
        lightgbm = import_lightgbm(type(self).__name__)
        if self.penalty not in get_args(Penalty):
            raise InvalidInputError(f"penalty={self.penalty!r} is unknown; use 'lazy' or 'coupled'.")
        tradeoff = at_least_zero(self.tradeoff, "tradeoff")
        self._check_parameters()
        X = rows_of(self, X, reset=True)
        refuse_infinities(X)
        y = self._check_y(labels_of(self, X, y))
        weight = weights_of(X, sample_weight)
        prices = self._resolve_costs()
        model = getattr(lightgbm, self._kind)(
            n_estimators=self.n_estimators,
            num_leaves=self.num_leaves,
            learning_rate=self.learning_rate,
            min_child_weight=self.min_child_weight,
            min_child_samples=self.min_child_samples,
            reg_lambda=self.reg_lambda,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=-1,
            cegb_tradeoff=tradeoff,
            **{f"cegb_penalty_feature_{self.penalty}": prices.price_alone.tolist()},
        )
        self.estimator_ = train(model, X, y, weight)
        self._store(Forest.from_model(self.estimator_))
        return self

    _kind: str

    def _check_parameters(self) -> None:
        whole_number("n_estimators", self.n_estimators, 1)
        whole_number("num_leaves", self.num_leaves, 2)
        whole_number("min_child_samples", self.min_child_samples, 0)
        at_least_zero(self.min_child_weight, "min_child_weight")
        at_least_zero(self.reg_lambda, "reg_lambda")
        positive_rate(self.learning_rate)

    def _check_y(self, y: NDArray[Any]) -> NDArray[Any]:
        raise NotImplementedError


class CEGBClassifier(ClassifierMixin, PricedForestClassifier, _CEGB):  # type: ignore[misc]
    """Classifier of boosted trees grown with feature costs (LightGBM's CEGB).

    The gain of a split is reduced by the cost of its feature, unless it is already paid for.

    Parameters
    ----------
    penalty : {"lazy", "coupled"}
        A feature is paid for by every training row that needs it for the first time, in whatever tree
        ("lazy"), or once, when any tree first uses it ("coupled").
    tradeoff : float, default=1.0
        Loss per unit of cost: of one row ("lazy"), or of all rows together ("coupled").
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    n_estimators, num_leaves, learning_rate, min_child_weight, min_child_samples, reg_lambda
        As in LightGBM, with its defaults. With rare classes, `min_child_weight` keeps Newton steps from
        diverging.
    n_jobs : int, optional
        Threads; None means physical cores, and fewer for small data.
    random_state : optional

    Attributes
    ----------
    estimator_ : LGBMClassifier
    forest_ : Forest
    classes_ : array of shape (n_classes,)

    Notes
    -----
    LightGBM does not support *shared sources*. A feature is charged the price of everything that it
    needs, as if no other feature needed it: too much for all but the first of a group. The cost of
    predictions (`acquisition_cost`) counts each source once.

    Needs the extra ``budgetprune[lightgbm]``.

    References
    ----------
    Peter, Diego, Hamprecht and Nadler, *Cost efficient gradient boosting* (NIPS 2017).
    """

    _kind = "LGBMClassifier"

    def _check_y(self, y: NDArray[Any]) -> NDArray[Any]:
        find_several_classes(y)
        return y


class CEGBRegressor(RegressorMixin, _CEGB):  # type: ignore[misc]
    """Regressor of boosted trees grown with feature costs (LightGBM's CEGB).

    For the parameters see `CEGBClassifier`; the loss is the squared error.
    """

    _kind = "LGBMRegressor"

    def _check_y(self, y: NDArray[Any]) -> NDArray[Any]:
        targets: NDArray[Any] = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return targets


def import_lightgbm(name: str) -> Any:
    """Return LightGBM, or raise an error that names the estimator that needs it."""
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError(f"{name} needs LightGBM: pip install 'budgetprune[lightgbm]'") from error
    return lightgbm
