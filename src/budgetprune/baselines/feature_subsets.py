"""`FeatureSubsets`: source selection for a budget, and one LightGBM model on the selected features."""

from __future__ import annotations

import numpy as np

from budgetprune.baselines.nested import NestedEstimator, best_within


class FeatureSubsets(NestedEstimator):
    """LightGBM classifier on a subset of the sources: feature selection, then an ordinary model.

    Sources are eliminated one by one: each time the one with the least loss per price saved. While there
    are many, the loss is estimated by LightGBM's gains, and an eighth of the sources is removed before
    the next model is trained. Among the last ten, each removal is tried, and the log loss on validation
    rows decides. Of the nested subsets (1, 2, ..., 10, 12, 14, ... and all sources), the most
    accurate on validation rows that is within the budget is chosen. Its model is trained on all rows.

    Parameters
    ----------
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    budget : float, optional
        Maximum cost of a prediction. None: the most accurate subset, at any cost.
    num_leaves, n_estimators, learning_rate
        As in LightGBM.
    validation_fraction : float, default=0.3
        Share of the rows used to choose; the others train the models that are compared.
    lightgbm_params : dict, optional
        Further parameters of ``LGBMClassifier``, such as ``{"extra_trees": True}``. With a
        ``"class_weight"``, accuracy and log loss on validation rows are weighted by it too.
    random_state : optional
        Seed of the split of the rows, and of LightGBM.
    n_jobs : int, optional
        Threads of LightGBM; None means physical cores, and fewer for small data.

    Attributes
    ----------
    order_ : tuple of str
        Sources that are not free, the most valuable first, without sources that no feature needs.
    subsets_ : tuple of Subset
        Nested subsets, the smallest first: `sources`, `columns`, `price`, and `accuracy` on validation rows.
    subset_ : Subset
        Selected subset.
    cost_ : float
        Its price.
    classes_ : array of shape (n_classes,)

    Notes
    -----
    *Shared sources.* Removing a source also removes all features that need it, and sources that no other
    feature needs. Their prices count as saved. Features that need nothing are in every subset; if
    there are any, the first subset has only these.

    All models are trained on all rows in `fit`, so that `with_budget` trains nothing.

    Needs the extra ``budgetprune[lightgbm]``.
    """

    def _choose(self) -> None:
        price, accuracy = np.array([(each.price, each.accuracy) for each in self.subsets_]).T
        k = best_within(price, accuracy, self.budget)
        self.subset_ = self.subsets_[k]
        self.cost_ = self.subset_.price
        self._chosen = self._cascade_model([k], [-np.inf])
