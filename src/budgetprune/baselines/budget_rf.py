"""`BudgetRF`: a forest grown with cost-weighted splits and an impurity threshold."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from budgetprune.baselines.base import AcceptsMissingValues, PricedForestClassifier
from budgetprune.baselines.binning import MAX_BINS, Bins, find_bins
from budgetprune.baselines.grower import GrownTree, grow_tree, logarithms
from budgetprune.baselines.grower_forest import combine_trees, find_classes, validate_rows
from budgetprune.baselines.grower_inputs import ENTROPY, PAIRS, Prices, SplitCriterion, TreeSample
from budgetprune.baselines.grower_parameters import tree_limits, whole_number
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.utils.numbers import at_least_zero, one_of

_MEASURES = {"pairs": PAIRS, "entropy": ENTROPY}
_RULES = {"minimax": False, "expected": True}


class BudgetRF(AcceptsMissingValues, ClassifierMixin, PricedForestClassifier, BaseEstimator):  # type: ignore[misc]
    """Grow a forest whose splits lower an impurity at the least cost, until it is low enough.

    At a node with rows S, the criterion of a feature f of cost c_f is ::

        R_f = c_f / (F(S) - min over thresholds of max(F(S_left), F(S_right)))        (rule "minimax")

    or with the weighted mean of the children instead of their maximum (rule "expected"). The feature with the
    least R splits the node; ties, and all free features, are compared by the decrease of the impurity. If no
    split lowers the impurity, or it is zero, the node is a leaf. Thresholds lie between bins of the features'
    values.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    impurity : {"pairs", "entropy"}
        F: threshold-Pairs, the sum over pairs of classes of [ [n_i - a]+ [n_j - a]+ - a^2 ]+ for n_i
        rows (or weight) of class i; or the entropy in bits, set to zero below a.
    rule : {"minimax", "expected"}
        How the children's impurities are combined; "expected" is usual with entropy.
    threshold : float
        Tolerated impurity a: rows for Pairs, bits for entropy. Larger values make smaller trees.
    costs : None, number, array-like, mapping, table or FeatureCosts
        Feature costs; None means 1 for each. The method charges a feature at each split, even if it is used
        again; so a feature costs the sum of the prices of all sources that it needs, even if they are shared
        or already acquired. (`acquisition_cost` charges each source once.)
    max_features : None, "sqrt", "log2", int or float
        Number of features, drawn anew at each node, that may split it: all, a function of their number, a
        number, or a share. If none of these can divide the node, others are drawn until one can.
    bootstrap : bool
        Whether each tree is grown on a bootstrap sample of the rows, drawn with probabilities in
        proportion to `sample_weight`. Otherwise all rows are used, and count by their weight.
    max_bins : int
        Maximum number of bins per feature, from 2 to 255.
    max_depth : int or None
    min_samples_leaf : int
        Minimum number of distinct rows in a leaf.
    n_jobs : int, optional
        Number of threads.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    classes_ : array
    forest_ : Forest
        The trees; can be pruned further. `Forest.from_model` accepts this estimator, so that
        ``BudgetPruneClassifier(BudgetRF(...))`` works, with out-of-bag errors too.
    n_features_in_ : int
    feature_names_in_ : array
        If X has names.

    Notes
    -----
    Missing values (NaN) have a separate bin: a split sends them to the better side, or separates them
    from all others. If none was missing in training, they go with the majority.

    References
    ----------
    Nan, Wang and Saligrama, *Feature-Budgeted Random Forest* (ICML 2015).
    """

    def __init__(
        self,
        n_estimators: int = 40,
        *,
        impurity: str = "pairs",
        rule: str = "minimax",
        threshold: float = 0.0,
        costs: Any = None,
        max_features: Any = None,
        bootstrap: bool = True,
        max_bins: int = MAX_BINS,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.impurity = impurity
        self.rule = rule
        self.threshold = threshold
        self.costs = costs
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_bins = max_bins
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X, y : array-like
        sample_weight : array-like, optional
        """
        n_trees = whole_number("n_estimators", self.n_estimators, 1)
        max_bins = whole_number("max_bins", self.max_bins, 2, MAX_BINS)
        rows = validate_rows(self, X, y, sample_weight)
        criterion = self._criterion(rows.X.shape[1])
        prices = Prices.of(self._resolve_costs())
        classes, label = find_classes(rows.y)
        self._weight, self._n_samples = rows.weight, len(rows.X)
        random = check_random_state(self.random_state)
        self._seeds: NDArray[np.int64] = random.randint(1, np.iinfo(np.int32).max, n_trees)
        bins = find_bins(rows.X, max_bins, rows.weight)
        trees = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_grow)(bins, label, self._tree_weight(seed), len(classes), prices, criterion, seed)
            for seed in self._seeds
        )
        self._store(self._forest_of(trees, bins, classes))
        return self

    def _criterion(self, n_features: int) -> SplitCriterion:
        one_of("bootstrap", self.bootstrap, (True, False))
        one_of("impurity", self.impurity, tuple(_MEASURES))
        one_of("rule", self.rule, tuple(_RULES))
        max_depth, min_samples_leaf = tree_limits(self)
        return SplitCriterion(
            measure=_MEASURES[self.impurity],
            is_expected=_RULES[self.rule],
            threshold=at_least_zero(self.threshold, "threshold"),
            cost_weight=0.0,
            max_features=_number_of_features(self.max_features, n_features),
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
        )

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """Rows that each tree was grown on, repeated as drawn."""
        return [self._draw(seed) for seed in self._seeds]

    def _draw(self, seed: int) -> NDArray[np.int64]:
        if not self.bootstrap:
            return np.arange(self._n_samples)
        random = np.random.RandomState(seed)
        if self._weight is None:
            return random.randint(0, self._n_samples, self._n_samples)
        return random.choice(self._n_samples, self._n_samples, p=self._weight / self._weight.sum())

    def _tree_weight(self, seed: int) -> NDArray[np.float64]:
        """Weight of each row in a tree."""
        if not self.bootstrap and self._weight is not None:
            return self._weight
        return np.bincount(self._draw(seed), minlength=self._n_samples).astype(np.float64)

    def _forest_of(self, trees: list[GrownTree], bins: Bins, classes: NDArray[Any]) -> Forest:
        combined = combine_trees(trees, bins)
        class_weight = combined.table["sums"]
        weight = class_weight.sum(axis=1)
        return Forest(
            **combined.fields,
            value=class_weight / weight[:, np.newaxis],
            weight=weight,
            class_weight=class_weight,
            tree_output=np.full(len(trees), -1),
            base=np.zeros(len(classes)),
            divisor=float(len(trees)),
            link="identity",
            label_rule="argmax",
            classes=classes,
            origin=self,
        )


def _grow(
    bins: Bins,
    label: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_classes: int,
    prices: Prices,
    criterion: SplitCriterion,
    seed: int,
) -> GrownTree:
    sample = TreeSample.of_classes(label, weight, n_classes)
    tree: GrownTree = grow_tree(bins, sample, prices, criterion, logarithms(weight, criterion), int(seed))
    return tree.without_rows()


def _number_of_features(max_features: Any, n_features: int) -> int:
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        return max(1, int(getattr(np, max_features)(n_features)))
    if (
        isinstance(max_features, Integral)
        and not isinstance(max_features, bool)
        and 1 <= int(max_features) <= n_features
    ):
        return int(max_features)
    if (
        isinstance(max_features, Real)
        and not isinstance(max_features, Integral)
        and 0 < float(max_features) <= 1
    ):
        return max(1, int(float(max_features) * n_features))
    raise InvalidInputError(
        f"max_features must be None, 'sqrt', 'log2', a number of features from 1 to {n_features}, or a share "
        f"above 0 and at most 1.0, not {max_features!r}."
    )
