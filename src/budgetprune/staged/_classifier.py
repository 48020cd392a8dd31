"""`BudgetClassifier`: the best classifier for a budget."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from budgetprune.errors import InvalidInputError
from budgetprune.ranking import RankingScorer
from budgetprune.staged._base import BudgetModel
from budgetprune.staged._objective import ErrorCosts, LogLoss, Objective, read_error_costs
from budgetprune.staged._points import Score
from budgetprune.staged._sample import Kind, Sample


class BudgetClassifier(ClassifierMixin, BudgetModel):  # type: ignore[misc]
    """Train the best classifier for a budget."""

    def __init__(
        self,
        costs: Any = None,
        *,
        budget: float | None = None,
        error_costs: Any = None,
        max_cost: float | None = None,
        risk: tuple[float, float] | None = None,
        scoring: Any = None,
        time_limit: float | None = None,
        class_weight: Any = None,
        learner: str = "auto",
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            costs,
            budget=budget,
            error_costs=error_costs,
            max_cost=max_cost,
            risk=risk,
            scoring=scoring,
            time_limit=time_limit,
            learner=learner,
            cv=cv,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> Self:
        """Train on rows and their classes.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars table of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
        qid : array-like of shape (n_rows,), optional
            The query that each row is a document of. Queries stay together in cross-fitting, and reach a
            `scoring` such as `budgetprune.ranking.ap_scorer`.
        """
        return self._fit(X, y, sample_weight, qid)

    def _sample(
        self, rows: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> Sample:
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        self.classes_, target = np.unique(labels, return_inverse=True)
        n_classes = self.classes_.size
        if n_classes < 2:
            raise InvalidInputError(
                f"y has one class only ({self.classes_[0]!r}); a classifier needs rows of at least two."
            )
        if self.class_weight is not None:
            of_class = compute_sample_weight(self.class_weight, labels)
            weight = of_class if weight is None else weight * of_class
        kind: Kind = "binary" if n_classes == 2 else "multiclass"
        return Sample(rows, target, weight, self._columns, kind, 1 if n_classes == 2 else n_classes)

    def _strata(self, sample: Sample) -> NDArray[np.intp]:
        return sample.target

    def _make_objective(self) -> Objective:
        self._answer = ErrorCosts(read_error_costs(self.error_costs, self.classes_))
        if self.error_costs is None and self.scoring is not None:
            scorer = get_scorer(self.scoring)
            methods = getattr(scorer, "_response_method", "predict")
            is_by_label = "predict" in (methods if isinstance(methods, tuple | list) else [methods])
            if not is_by_label or isinstance(scorer, RankingScorer):
                return LogLoss()
        return self._answer

    def _make_score(self, sample: Sample, qid: NDArray[Any] | None) -> Score:
        weight = np.ones(len(sample)) if sample.weight is None else sample.weight
        if self.scoring is None:

            def accuracy(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
                is_right = self._answer.answers(outputs) == sample.target[rows]
                return float(np.average(is_right, weights=weight[rows]))

            return accuracy
        scorer = get_scorer(self.scoring)

        def score(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
            seen = Seen(self.classes_, self._answer, outputs)
            extras = {} if qid is None else {"qid": qid[rows]}
            return float(scorer(seen, outputs, self.classes_[sample.target[rows]], **extras))

        return score

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class at the stage where a row stops, (n_rows, n_classes)."""
        return self._follow(X)[1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row: the one with the least expected cost of error."""
        _, outputs = self._follow(X)
        return self.model_.answers(outputs)


class Seen(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator whose outputs are known, for scorers."""

    def __init__(self, classes: NDArray[Any], answer: ErrorCosts, outputs: NDArray[np.float64]) -> None:
        self.classes_, self._answer, self._outputs = classes, answer, outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs."""
        return self._outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels."""
        found: NDArray[Any] = self.classes_[self._answer.answers(self._outputs)]
        return found
