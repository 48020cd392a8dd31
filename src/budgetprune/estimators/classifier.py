"""`BudgetPruneClassifier`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.estimators import docs as _docs
from budgetprune.estimators.base import BudgetPruneBase
from budgetprune.forest import Forest
from budgetprune.forest.registry import find_adapter
from budgetprune.selection import LabelledRows, between_zero_and_one


def _has_summed_scores(estimator: Any) -> bool:
    if estimator._interpreter.link == "identity":
        raise AttributeError("a forest that averages probabilities has no decision_function.")
    return True


@_docs.classifier
class BudgetPruneClassifier(ClassifierMixin, BudgetPruneBase):  # type: ignore[misc]
    """Classify on a budget: prune an ensemble so that it errs little for what its features cost.

    Every feature costs something to obtain when a prediction is made, and a trained ensemble asks for most of
    them. `fit` grows the ensemble, prunes all its trees jointly and exactly (see `PruningProblem`), picks the
    pruning for the budget, and refits the leaves that are left.

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
    >>> predictor = model.predictor()  # asks for one feature after the other
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
        validation_fraction: float = 0.3,
        scoring: Any = None,
        solver: str = "parametric",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
        )
        self.threshold = threshold

    _by_class = True
    _names_of_numbers: NDArray[Any] | None = None
    _refits = ("squared", "softmax", "own")

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

    def _spelled_for(self, model: Any, y: NDArray[Any]) -> NDArray[Any]:
        """Labels in the form that the model's library takes; `_translate` restores them."""
        labels, self._names_of_numbers = find_adapter(model).encode_labels(y)
        return labels

    def _check_type(self, estimator_type: str | None, name: str) -> None:
        if estimator_type == "regressor":
            raise UnsupportedModelError(f"{name} predicts numbers; use BudgetPruneRegressor for it.")

    def _check_threshold(self, n_classes: int) -> None:
        if self.threshold is None:
            return
        between_zero_and_one("threshold", self.threshold, ends=True)
        if n_classes > 2:
            raise InvalidInputError(f"threshold decides between two classes, but there are {n_classes}.")

    def _translate(self) -> Forest:
        try:
            forest = super()._translate()
        except UnsupportedModelError as error:
            if len(getattr(self.estimator_, "classes_", ())) == 1:
                raise InvalidInputError(f"y has a single class: {error}") from error
            raise
        assert forest.classes is not None
        if self._names_of_numbers is not None:
            forest = replace(forest, classes=self._names_of_numbers)
        self.classes_: NDArray[Any] = np.asarray(forest.classes)
        self._check_threshold(self.classes_.size)
        return forest

    score = BudgetPruneBase.score  # the one of ClassifierMixin knows no `scoring`

    def _usual_score(self, X: Any, y: Any, sample_weight: Any) -> float:
        return float(ClassifierMixin.score(self, X, y, sample_weight))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        By the rule of the library the ensemble came from; with a `threshold`, the second class if its
        probability is at least that. With slack, what is answered once it is decided early.
        """
        decided = self._decided_answers(X)
        if decided is not None:
            return decided
        scores = self._scores(X)
        if self.threshold is None:
            return self._interpreter.answers(scores)
        return self.classes_[
            (self._interpreter.probabilities(scores)[:, 1] >= self.threshold).astype(np.intp)
        ]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class from all features, of shape (n_rows, n_classes)."""
        scores = self._scores(X)
        return self._interpreter.probabilities(scores)

    def to_sklearn(self) -> Any:
        if self.threshold is not None:
            raise UnsupportedModelError(
                "no forest of scikit-learn knows a threshold; write FixedThresholdClassifier(FrozenEstimator("
                f"model.forest_.to_sklearn()), threshold={self.threshold!r}) of sklearn.model_selection."
            )
        return super().to_sklearn()

    to_sklearn.__doc__ = BudgetPruneBase.to_sklearn.__doc__

    @available_if(_has_summed_scores)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores before the link: (n_rows,) for two classes, else (n_rows, n_classes).

        Not for forests that average probabilities: their scores are those.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
