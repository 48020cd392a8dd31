"""`GreedyMiser`: boosted trees of low depth that pay for a feature before they use it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state

from budgetprune.baselines.base import PricedBoosting, PricedForestClassifier
from budgetprune.baselines.binning import MOST_BINS
from budgetprune.baselines.greedy_miser_rounds import Boosting, boost
from budgetprune.baselines.grower_forest import TrainingRows, find_classes, training_rows
from budgetprune.baselines.grower_parameters import tree_limits, whole_number
from budgetprune.baselines.grower_splits import SQUARED, Aim
from budgetprune.errors import InvalidInputError
from budgetprune.losses import Loss
from budgetprune.problem.checks import at_least_zero

# The share of a class that has no weight must have a logarithm.
_LEAST_SHARE = 1e-9


class _Miser(PricedBoosting, BaseEstimator):  # type: ignore[misc]
    """Boosted trees, whatever their loss."""

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        cost_weight: float = 0.0,
        costs: Any = None,
        max_bins: int = MOST_BINS,
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees, round by round.

        Parameters
        ----------
        X, y : array-like
        sample_weight : array-like, optional
        """
        n_rounds = whole_number("n_estimators", self.n_estimators, 1)
        max_bins = whole_number("max_bins", self.max_bins, 2, MOST_BINS)
        learning_rate = at_least_zero(self.learning_rate, "learning_rate")
        if learning_rate == 0:
            raise InvalidInputError(
                "learning_rate is 0, and nothing would be learned; give a number above 0."
            )
        cost_weight = at_least_zero(self.cost_weight, "cost_weight")
        max_depth, min_samples_leaf = tree_limits(self)
        rows = training_rows(self, X, y, sample_weight)
        aim = Aim(
            measure=SQUARED,
            is_expected=True,
            threshold=0.0,
            cost_weight=cost_weight,
            max_features=rows.X.shape[1],
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
        )
        costs = self._resolve_costs()
        boosting = self._begin(rows)
        random = check_random_state(self.random_state)
        self._take(boost(boosting, rows, costs, aim, max_bins, learning_rate, n_rounds, random))
        return self

    def _begin(self, rows: TrainingRows) -> Boosting:
        """Say what is learned, and from which scores boosting begins."""
        raise NotImplementedError


class GreedyMiser(ClassifierMixin, PricedForestClassifier, _Miser):  # type: ignore[misc]
    """Boost trees of low depth on logistic loss; a split pays for features that are new.

    Each tree approximates the gradient: what is left of the class, 1 or 0, beside its probability. A split
    lowers the mean squared error of that, over all rows, by more than lambda times the cost of what it needs
    that earlier trees did not use, or it is not made; among those that are, the one with the largest
    difference is. What a split has paid for is free for all later ones. With more than two classes, there is
    one ensemble for each, with a tree in every round; they share what is paid for.

    Parameters
    ----------
    n_estimators : int
        Rounds of boosting.
    learning_rate : float
        What each tree's answers are multiplied by.
    max_depth : int or None
    cost_weight : float
        lambda: how much a unit of cost is worth, in units of mean squared residual.
    costs : None, number, array-like, mapping, table or FeatureCosts
        What features cost; None means 1 for each. A feature costs what the sources that it needs cost, as far
        as no earlier tree, and no earlier split of the same tree, has used them: so a source that features
        share is charged with the first of them.
    max_bins : int
        From 2 to 255: into how many bins the values of a feature are divided.
    min_samples_leaf : int
        Rows that a leaf has at least.
    random_state : int, RandomState instance or None
        Decides between splits that are equally good.

    Attributes
    ----------
    forest_ : Forest
        The trees. `Forest.from_model` knows this estimator, so that it can be pruned further.
    n_features_in_ : int
    feature_names_in_ : array
        If X has names.

    Notes
    -----
    Trees grow level by level. A leaf's answer is the Newton step of its rows, as in gradient boosting: their
    mean residual, if the loss is squared.

    Missing values (NaN) have a bin of their own: a split sends them to whichever side is better, or parts
    them from all others; where none was missing in training, they go with the majority.

    References
    ----------
    Xu, Weinberger and Chapelle, *The Greedy Miser: Learning under Test-time Budgets* (ICML 2012).
    """

    def _begin(self, rows: TrainingRows) -> Boosting:
        classes, label = find_classes(rows.y)
        share = np.bincount(label, rows.weight) / (label.size if rows.weight is None else rows.weight.sum())
        if np.count_nonzero(share) < 2:
            only = classes[np.argmax(share)].item()
            raise InvalidInputError(
                f"y has rows of 1 class only, {only!r}, or all others have weight 0; give two at least."
            )
        log_share = np.log(np.maximum(share, _LEAST_SHARE))
        loss: Loss = "logistic" if classes.size == 2 else "softmax"
        base = log_share[1:] - log_share[:1] if loss == "logistic" else log_share
        return Boosting(loss, label, base, classes)


class GreedyMiserRegressor(RegressorMixin, _Miser):  # type: ignore[misc]
    """Boost trees of low depth on squared loss; a split pays for features that are new.

    Parameters, attributes and everything else are as for `GreedyMiser`, but what trees approximate are the
    residuals of a target.
    """

    def _begin(self, rows: TrainingRows) -> Boosting:
        target: NDArray[Any] = check_array(rows.y, ensure_2d=False, dtype=np.float64, input_name="y")
        return Boosting("squared", target, np.array([np.average(target, weights=rows.weight)]), None)
