"""`BudgetRegressor`: staged regression model for a budget."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from budgetprune.errors import InvalidInputError
from budgetprune.ranking import ndcg_scorer
from budgetprune.staged.curve.points import Score
from budgetprune.staged.data.rows import TrainingRows
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.estimators.base import BudgetEstimator
from budgetprune.staged.estimators.scoring import WeightedScorer, r_squared, score_of_targets
from budgetprune.staged.model.error_costs import LARGEST_PRICE
from budgetprune.staged.model.objective import Objective, SquaredErrorObjective
from budgetprune.utils.validation import rows_of


class BudgetRegressor(RegressorMixin, BudgetEstimator):  # type: ignore[misc]
    """Train the best regression model for a budget.

    Sources are acquired in stages. After each stage, a row stops if the expected saving in squared error from
    the next stage is worth less than its price. One fit serves every budget: `with_budget` is a lookup.

    Parameters
    ----------
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None: 1 per feature.
    budget : float, optional
        Limit of the average cost of a prediction. None: no limit.
    error_costs : number, optional
        Cost of a unit of squared error, in the unit of the prices. With it, the point with the lowest total
        cost of errors and sources is selected, within the budget if there is one.
    max_cost : float, optional
        Limit of the cost of each single prediction.
    risk : (share, confidence), optional
        For classifiers only.
    scoring : str or callable, optional
        Score of predictions, as in scikit-learn. None: R², or NDCG with queries (`qid`).
    time_limit : float, optional
        Training time in seconds. After it, training still finishes what it has begun, with fewer trees, so it
        may take a little longer; there is always a model.
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
    learner_ : str
        Learner of the trees.
    settings_ : tuple of TreeSettings
        Tree settings: chosen for stages of few features (first), and for all features (last).
    feature_importances_ : array of shape (n_features,)
        Share of each feature in the explained variance of the scores, at this budget.
    model_ : StagedModel
        Stages, and stopping rules for all budgets.
    """

    def _sample(
        self, rows: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> LearningSample:
        try:
            target = np.asarray(labels, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"y must hold numbers ({error}); for classes, use BudgetClassifier."
            ) from error
        if not np.all(np.isfinite(target)):
            raise InvalidInputError("y contains NaN or infinity; leave such rows out.")
        return LearningSample(rows, target, weight, self._columns, "regression", 1)

    def _make_objective(self) -> Objective:
        price = 1.0 if self.error_costs is None else self.error_costs
        is_number = isinstance(price, Real) and not isinstance(price, bool)
        if not is_number or not 0 < float(price) <= LARGEST_PRICE:
            raise InvalidInputError(
                "error_costs must be a positive number, the cost of a unit of squared error, up to "
                f"{LARGEST_PRICE:g}; not {price!r}."
            )
        return SquaredErrorObjective(float(price))

    def _make_score(self, sample: LearningSample, given: TrainingRows, objective: Objective) -> Score:
        if self.scoring is None and given.qid is None:
            return r_squared(sample)
        scorer = ndcg_scorer() if self.scoring is None else get_scorer(self.scoring)
        return score_of_targets(WeightedScorer(scorer, given), sample)

    def _constant_outputs(self, sample: LearningSample) -> NDArray[np.float64]:
        mean, variance = sample.target.mean(), sample.target.var()
        return np.tile([mean, variance], (len(sample), 1))

    def predict_interval(self, X: Any, level: float = 0.9) -> NDArray[np.float64]:
        """Return intervals that contain the targets of a share `level` of new rows, of shape (n_rows, 2).

        Split-conformal intervals from the residuals of cross-fitting, see `BudgetPredictor.predict_interval`;
        wider where a larger error is expected. Not for models that were fitted with queries.
        """
        check_is_fitted(self)
        X = rows_of(self, X, may_hold_text=self._priced is not None)
        return self.predictor().predict_interval(X, level)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target of each row, at the stage where it stops."""
        return self._follow(X)[1][:, 0]
