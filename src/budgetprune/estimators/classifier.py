"""`BudgetPruneClassifier`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.estimators import docs as _docs
from budgetprune.estimators.base import BudgetPruneBase
from budgetprune.forest import Forest, find_adapter
from budgetprune.selection import LabelledRows, PrunedClassifier, WeightedAccuracy
from budgetprune.utils.numbers import between_zero_and_one


@_docs.classifier
class BudgetPruneClassifier(ClassifierMixin, PrunedClassifier, BudgetPruneBase):  # type: ignore[misc]
    """Classifier on a budget: an ensemble of trees, pruned for an average cost per prediction.

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
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = make_classification(500, n_features=10, n_informative=4, random_state=0)
    >>> model = BudgetPruneClassifier(RandomForestClassifier(20), budget=5, random_state=0).fit(X, y)
    >>> bool(model.acquisition_cost(X).mean() < 6)
    True
    >>> cheaper = model.with_budget(3.5)
    >>> bool(cheaper.cost_ <= 3.5)
    True
    >>> predictor = model.predictor()  # acquires one feature after the other
    >>> predictor.decide(dict(zip(predictor.feature_names, X[0], strict=True))).reason
    'certain'
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
        threshold: float | None = None,
        error_weight: Any = None,
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
        self.threshold = threshold
        self.error_weight = error_weight

    _by_class = True
    _refits = ("squared", "softmax", "own")
    _default_scorer = staticmethod(ClassifierMixin.score)
    _class_names: NDArray[Any] | None = None  # if the library's labels are numbers of classes

    def _scorer(self, *, has_queries: bool = False) -> Callable[..., float]:
        if self.scoring is None and self.error_weight is not None:
            return WeightedAccuracy(self.error_weight)
        return super()._scorer(has_queries=has_queries)

    def _default_estimator(self) -> Any:
        return RandomForestClassifier()

    def _check_y(self, y: NDArray[Any]) -> NDArray[Any]:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self._check_threshold(np.unique(y).size)
        return y

    def _check_same_labels(self, train: LabelledRows, val: LabelledRows | None) -> None:
        unknown = [] if val is None else np.setdiff1d(val.y, train.y).tolist()
        if unknown:
            raise InvalidInputError(
                f"y_val has labels that y lacks: {', '.join(map(repr, unknown[:5]))}; leave such rows out."
            )

    def _encode_labels(self, model: Any, y: NDArray[Any]) -> NDArray[Any]:
        labels, self._class_names = find_adapter(model).encode_labels(y)
        return labels

    def _restore_labels(self, forest: Forest) -> Forest:
        if self._class_names is not None:
            forest = replace(forest, classes=self._class_names)
        self.classes_: NDArray[Any] = np.asarray(forest.classes)
        self._check_threshold(self.classes_.size)
        return forest

    def _check_type(self, estimator_type: str | None, name: str) -> None:
        if estimator_type == "regressor":
            raise UnsupportedModelError(f"{name} predicts numbers; use BudgetPruneRegressor for it.")

    def _check_threshold(self, n_classes: int) -> None:
        if self.threshold is None:
            return
        between_zero_and_one("threshold", self.threshold, ends=True)
        if n_classes > 2:
            raise InvalidInputError(f"threshold decides between two classes, but there are {n_classes}.")

    score = BudgetPruneBase.score  # the one of ClassifierMixin has no `scoring`
