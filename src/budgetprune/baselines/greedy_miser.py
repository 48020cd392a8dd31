"""`GreedyMiser`: boosted shallow trees whose splits are charged for new features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state

from budgetprune.baselines.base import AcceptsMissingValues, PricedBoosting, PricedForestClassifier
from budgetprune.baselines.binning import MAX_BINS
from budgetprune.baselines.greedy_miser_rounds import BoostingProblem, boost
from budgetprune.baselines.grower_forest import ValidatedRows, find_classes, validate_rows
from budgetprune.baselines.grower_inputs import SQUARED, SplitCriterion
from budgetprune.baselines.grower_parameters import positive_rate, tree_limits, whole_number
from budgetprune.errors import InvalidInputError
from budgetprune.utils.numbers import at_least_zero

# Keeps the logarithm finite for classes without weight.
_LEAST_SHARE = 1e-9


class _GreedyMiser(AcceptsMissingValues, PricedBoosting, BaseEstimator):  # type: ignore[misc]
    """Base class of the classifier and the regressor."""

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        cost_weight: float = 0.0,
        costs: Any = None,
        max_bins: int = MAX_BINS,
        min_samples_leaf: int = 1,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.cost_weight = cost_weight
        self.costs = costs
        self.max_bins = max_bins
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees, round by round.

        Parameters
        ----------
        X, y : array-like
        sample_weight : array-like, optional
        """
        n_rounds = whole_number("n_estimators", self.n_estimators, 1)
        max_bins = whole_number("max_bins", self.max_bins, 2, MAX_BINS)
        learning_rate = positive_rate(self.learning_rate)
        cost_weight = at_least_zero(self.cost_weight, "cost_weight")
        max_depth, min_samples_leaf = tree_limits(self)
        rows = validate_rows(self, X, y, sample_weight)
        criterion = SplitCriterion(
            measure=SQUARED,
            is_expected=True,
            threshold=0.0,
            cost_weight=cost_weight,
            max_features=rows.X.shape[1],
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
        )
        costs = self._resolve_costs()
        problem = self._boosting_problem(rows)
        random = check_random_state(self.random_state)
        self._store(boost(problem, rows, costs, criterion, max_bins, learning_rate, n_rounds, random))
        return self

    def _boosting_problem(self, rows: ValidatedRows) -> BoostingProblem:
        """Return the loss, the targets and the initial scores."""
        raise NotImplementedError


class GreedyMiser(ClassifierMixin, PricedForestClassifier, _GreedyMiser):  # type: ignore[misc]
    """Boosted shallow trees with logistic loss; splits are charged for new features.

    Each tree approximates the gradient: the class, 1 or 0, minus its probability. A split must lower the
    mean squared error, over all rows, by more than lambda times the cost of the sources that it needs and
    that are not paid for yet. The split with the largest difference is made. Sources that a split has
    paid for are free for all later ones. With more than two classes, there is one ensemble per class,
    with a tree in every round; they share the sources paid for.

    Parameters
    ----------
    n_estimators : int
        Rounds of boosting.
    learning_rate : float
        Factor on the values of each tree.
    max_depth : int or None
    cost_weight : float
        lambda: mean squared residual per unit of cost.
    costs : None, number, array-like, mapping, table or FeatureCosts
        Feature costs; None means 1 for each. A feature costs the sum of the prices of the sources that it
        needs, without those used by earlier trees or earlier splits of the same tree: so a shared source is
        charged with the first of its features.
    max_bins : int
        Maximum number of bins per feature, from 2 to 255.
    min_samples_leaf : int
        Minimum number of rows in a leaf.
    random_state : int, RandomState instance or None
        Breaks ties between splits.

    Attributes
    ----------
    forest_ : Forest
        The trees. `Forest.from_model` accepts this estimator, so that it can be pruned further.
    n_features_in_ : int
    feature_names_in_ : array
        If X has names.

    Notes
    -----
    Trees grow level by level. The value of a leaf is the Newton step of its rows, as in gradient
    boosting: their mean residual, for squared loss.

    Missing values (NaN) have a separate bin: a split sends them to the better side, or separates them
    from all others. If none was missing in training, they go with the majority.

    References
    ----------
    Xu, Weinberger and Chapelle, *The Greedy Miser: Learning under Test-time Budgets* (ICML 2012).
    """

    def _boosting_problem(self, rows: ValidatedRows) -> BoostingProblem:
        classes, label = find_classes(rows.y)
        share = np.bincount(label, rows.weight) / (label.size if rows.weight is None else rows.weight.sum())
        if np.count_nonzero(share) < 2:
            only = classes[np.argmax(share)].item()
            raise InvalidInputError(
                f"y has rows of 1 class only, {only!r}, or all others have weight 0; give at least two."
            )
        log_share = np.log(np.maximum(share, _LEAST_SHARE))
        loss = "logistic" if classes.size == 2 else "softmax"
        base = log_share[1:] - log_share[:1] if loss == "logistic" else log_share
        return BoostingProblem(loss, label, base, classes)


class GreedyMiserRegressor(RegressorMixin, _GreedyMiser):  # type: ignore[misc]
    """Boosted shallow trees with squared loss; splits are charged for new features.

    Parameters and attributes are as for `GreedyMiser`, but trees approximate the residuals of a target.
    """

    def _boosting_problem(self, rows: ValidatedRows) -> BoostingProblem:
        target: NDArray[Any] = check_array(rows.y, ensure_2d=False, dtype=np.float64, input_name="y")
        return BoostingProblem("squared", target, np.array([np.average(target, weights=rows.weight)]), None)
