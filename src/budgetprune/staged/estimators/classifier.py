"""`BudgetClassifier`: staged classifier for a budget."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from budgetprune.errors import InvalidInputError
from budgetprune.ranking import RankingScorer
from budgetprune.staged.curve.points import Score
from budgetprune.staged.data.rows import TrainingRows, unit_weights
from budgetprune.staged.data.sample import Kind, LearningSample
from budgetprune.staged.estimators.base import BudgetEstimator
from budgetprune.staged.estimators.scoring import WeightedScorer, accuracy, score_of_classes
from budgetprune.staged.model.error_costs import read_error_costs
from budgetprune.staged.model.objective import (
    ErrorCostObjective,
    LogLossObjective,
    Objective,
    ThresholdObjective,
)
from budgetprune.staged.model.staged_model import check_threshold
from budgetprune.utils.numbers import between_zero_and_one


class BudgetClassifier(ClassifierMixin, BudgetEstimator):  # type: ignore[misc]
    """Train the best classifier for a budget.

    Sources are acquired in stages. After each stage, a row stops if the expected saving in errors from the
    next stage is worth less than its price; so most rows pay for few sources. One fit serves every budget:
    `with_budget` is a lookup.

    Parameters
    ----------
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None: 1 per feature.
    budget : float, optional
        Limit of the average cost of a prediction. None: no limit.
    error_costs : number, matrix or mapping, optional
        Cost of wrong predictions, in the unit of the prices. A number: cost of each error. A matrix: cost by
        true class (rows) and predicted class (columns). A mapping: from a true class, or from a pair (true
        class, predicted class), to a cost. With error costs, the point with the lowest total cost of errors
        and sources is selected, within the budget if there is one.
    max_cost : float, optional
        Limit of the cost of each single prediction.
    risk : (share, confidence), optional
        At most this share of the labels differs from those of the model that acquires all sources, with this
        confidence; for example ``(0.01, 0.95)``. It is tested on a fifth of the rows, which are used for
        nothing else.
    scoring : str or callable, optional
        Score of predictions, as in scikit-learn. None: accuracy.
    time_limit : float, optional
        Training time in seconds. After it, training still finishes what it has begun, with fewer trees, so it
        may take a little longer; there is always a model.
    class_weight : dict or "balanced", optional
        Weights of classes. The default score, accuracy, is weighted as well.
    threshold : float, optional
        Two classes only: the smallest probability at which the second one is predicted, above 0 and below 1.
        Rows stop as if a wrong second class cost threshold / (1 - threshold) times as much as a wrong first
        one. None: the more probable class, or the one with the lowest expected cost of errors.
    learner : {"auto", "lightgbm", "hist", "forest"}
        Trainer of the trees: LightGBM, scikit-learn's HistGradientBoosting, or random forests, which do not
        support categories. "auto": LightGBM if it is installed, else HistGradientBoosting; or a forest if it
        is significantly better on rows that it was not trained on.
    cv : int or splitter of scikit-learn
        Folds of cross-fitting. A number is a maximum: fewer folds are used if these have 20,000 test rows.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads. None: one for each core.
    verbose : int
        1 shows a progress bar.
    preprocessing : transformer of scikit-learn, optional
        A ColumnTransformer or a Pipeline that computes the features from the columns of X, fitted
        (``FrozenEstimator(transformer)``) or not. The costs are then those of the columns of X, and which of
        them each feature needs is found from the transformers.
    needs : mapping, optional
        For steps of the preprocessing that cannot be traced: see `Preprocessing.from_sklearn`.
    engine : {"ray"}, optional
        Where models are trained: None means threads of this process, "ray" tasks on a Ray cluster (extra
        ``[ray]``), with the same result. `n_jobs` is then the number of tasks at the same time; None: one for
        each processor of the cluster.

    Attributes
    ----------
    tradeoff_ : StagedTradeOff
        Cost and score for each budget, with standard deviations over the folds.
    stages_ : tuple of StageShares
        Stages in order: sources, prices, shares of the rows that reach each stage and stop there, and the
        score if all rows stopped there.
    risk_ : RiskCertificate
        With `risk`: the points of the curve that meet it, and bounds for the others.
    learner_ : str
        Learner of the trees.
    settings_ : tuple of TreeSettings
        Tree settings: chosen for stages of few features (first), and for all features (last).
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the explained variance of the scores, at this budget.
    model_ : StagedModel
        Stages, and stopping rules for all budgets.
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BudgetClassifier(budget=3, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    >>> bool(model.acquisition_cost(X[1::2]).mean() < 4)
    True
    """

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
        threshold: float | None = None,
        learner: str = "auto",
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        preprocessing: Any = None,
        needs: Any = None,
        engine: str | None = None,
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
            preprocessing=preprocessing,
            needs=needs,
            engine=engine,
        )
        self.class_weight = class_weight
        self.threshold = threshold

    def _sample(
        self, rows: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> LearningSample:
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        self.classes_, target = np.unique(labels, return_inverse=True)
        n_classes = self.classes_.size
        if n_classes < 2:
            (only,) = self.classes_.tolist()
            where = "" if self.risk is None else " in the rows left for training"
            raise InvalidInputError(
                f"y has one class only ({only!r}){where}; a classifier needs rows of at least two."
            )
        if self.class_weight is not None:
            of_class = compute_sample_weight(self.class_weight, labels)
            if not np.all((of_class >= 0) & (of_class < np.inf)) or not of_class.any():
                raise InvalidInputError(
                    f"class_weight must have finite numbers of at least 0, and one above 0; not "
                    f"{self.class_weight!r}."
                )
            weight = unit_weights(of_class if weight is None else weight * of_class)
        kind: Kind = "binary" if n_classes == 2 else "multiclass"
        return LearningSample(rows, target, weight, self._columns, kind, 1 if n_classes == 2 else n_classes)

    def _strata(self, sample: LearningSample) -> NDArray[np.intp]:
        return sample.target

    def _make_objective(self) -> Objective:
        self._answer = self._make_answer()
        if self.error_costs is None and self.scoring is not None:
            scorer = get_scorer(self.scoring)
            methods = getattr(scorer, "_response_method", "predict")
            is_by_label = "predict" in (methods if isinstance(methods, tuple | list) else [methods])
            if not is_by_label or isinstance(scorer, RankingScorer):
                return LogLossObjective()
        return self._answer

    def _make_answer(self) -> ErrorCostObjective:
        """Return the rule that chooses classes, given probabilities."""
        if self.threshold is None:
            return ErrorCostObjective(read_error_costs(self.error_costs, self.classes_))
        check_threshold(self.threshold, self.classes_.size)
        between_zero_and_one("threshold", self.threshold, ends=False)
        return ThresholdObjective(float(self.threshold))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.threshold is not None and self.error_costs is not None:
            raise InvalidInputError(
                "give error_costs or a threshold, not both: each of them chooses the class for given "
                "probabilities."
            )

    def _fallback(self) -> Objective | None:
        return LogLossObjective() if self.error_costs is None and self.scoring is None else None

    def _make_score(self, sample: LearningSample, given: TrainingRows, objective: Objective) -> Score:
        if self.scoring is None:
            return accuracy(sample, self._answer)
        scorer = WeightedScorer(get_scorer(self.scoring), given)
        return score_of_classes(
            scorer, sample, self.classes_, self._answer, by_labels=not isinstance(objective, LogLossObjective)
        )

    def _constant_outputs(self, sample: LearningSample) -> NDArray[np.float64]:
        share = np.bincount(sample.target, minlength=self.classes_.size) / len(sample)
        return np.tile(share, (len(sample), 1))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate class probabilities at the stage where each row stops, of shape (n_rows, n_classes)."""
        return self._follow(X)[1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row: the one with the lowest expected cost of errors."""
        _, outputs = self._follow(X)
        return self.model_.answers(outputs)
