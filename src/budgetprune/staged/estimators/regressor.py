"""`BudgetRegressor`: the best regression model for a budget."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from budgetprune.errors import InvalidInputError
from budgetprune.ranking import ndcg_scorer
from budgetprune.staged.curve.points import Score
from budgetprune.staged.data.rows import TrainingRows
from budgetprune.staged.data.sample import Sample
from budgetprune.staged.estimators.base import BudgetEstimator
from budgetprune.staged.model.error_costs import LARGEST_PRICE
from budgetprune.staged.model.objective import Objective, SquaredError


class BudgetRegressor(RegressorMixin, BudgetEstimator):  # type: ignore[misc]
    """Train the best regression model for a budget.

    Sources are bought in stages. After each stage a row stops if the squared error that the next stage would
    save is expected to cost less than it does. One fit serves every budget: `with_budget` is a lookup.

    Parameters
    ----------
    costs : FeatureCosts or what it takes
        None: 1 per feature.
    budget : float, optional
        What a prediction may cost on average. None: no limit.
    error_costs : number, optional
        What a unit of squared error costs, in the unit of the prices. With it, the model is chosen at which
        errors and sources together cost least, within the budget if there is one.
    max_cost : float, optional
        What a single prediction may cost at most.
    risk : (share, confidence), optional
        For classifiers only.
    scoring : str or callable, optional
        How models are judged, as in scikit-learn. None: R², or NDCG for documents of queries (`qid`).
    time_limit : float, optional
        Seconds for training. When they are over, what has begun is finished with fewer trees, so that it
        takes a little longer; there is always a model.
    learner : {"auto", "lightgbm", "hist", "forest"}
        What grows the trees: LightGBM, scikit-learn's HistGradientBoosting, or a random forest, which takes
        no categories. "auto": LightGBM if it is installed, else HistGradientBoosting; or a forest, if that
        is clearly better on rows that it was not trained on.
    cv : int or splitter of scikit-learn
        Folds of cross-fitting. A number is the largest one: no more folds are used than it takes to have
        20,000 rows that stages were not trained on.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads. None: one for each core.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    tradeoff_ : StagedTradeOff
        What each budget buys: cost and score, with their spread over the folds.
    stages_ : tuple of StageShares
        What is bought together, in which order, how many rows reach each stage and stop there, and the score
        if all rows stopped there.
    risk_ : RiskCertificate
        With `risk`: which points of the curve keep the promise, and what can be promised at the others.
    learner_ : str
        What has grown the trees.
    settings_ : tuple of TreeSettings
        How trees may be grown: chosen for stages of few features (first), and for all features (last).
    model_ : StagedModel
        The stages and the stopping rules of all budgets.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> Self:
        """Train on rows and their targets.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars table of shape (n_rows, n_features)
        y : array-like of numbers, of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
        qid : array-like of shape (n_rows,), optional
            The query that each row is a document of. Queries stay together in cross-fitting, and models are
            scored by NDCG, or by a `scoring` such as `budgetprune.ranking.ap_scorer`.
        """
        return self._fit(X, y, sample_weight, qid)

    def _sample(
        self, rows: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> Sample:
        try:
            target = np.asarray(labels, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"y must hold numbers ({error}); for classes, use BudgetClassifier."
            ) from error
        if not np.all(np.isfinite(target)):
            raise InvalidInputError("y contains NaN or infinity; leave such rows out.")
        return Sample(rows, target, weight, self._columns, "regression", 1)

    def _make_objective(self) -> Objective:
        price = 1.0 if self.error_costs is None else self.error_costs
        is_number = isinstance(price, Real) and not isinstance(price, bool)
        if not is_number or not 0 < float(price) <= LARGEST_PRICE:
            raise InvalidInputError(
                "error_costs must be a positive number, the price of a unit of squared error, up to "
                f"{LARGEST_PRICE:g}; not {price!r}."
            )
        return SquaredError(float(price))

    def _make_score(self, sample: Sample, given: TrainingRows) -> Score:
        weight = np.ones(len(sample)) if sample.weight is None else sample.weight
        if self.scoring is None and given.qid is None:
            total = np.average(
                (sample.target - np.average(sample.target, weights=weight)) ** 2, weights=weight
            )

            def r2(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
                # Of all rows together: a fold may be too small for a variance of its own.
                error = np.average((sample.target[rows] - outputs[:, 0]) ** 2, weights=weight[rows])
                return float(1 - error / total) if total > 0 else 0.0

            return r2
        scorer = ndcg_scorer() if self.scoring is None else get_scorer(self.scoring)

        def score(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
            extras = self._extras(scorer, given, rows)
            return float(scorer(Seen(outputs), outputs, sample.target[rows], **extras))

        return score

    def _constant_outputs(self, sample: Sample) -> NDArray[np.float64]:
        mean, variance = sample.target.mean(), sample.target.var()
        return np.tile([mean, variance], (len(sample), 1))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target of each row, at the stage where it stops."""
        return self._follow(X)[1][:, 0]


class Seen(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator whose outputs are known, for scorers."""

    def __init__(self, outputs: NDArray[np.float64]) -> None:
        self._outputs = outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the targets."""
        return self._outputs[:, 0]
