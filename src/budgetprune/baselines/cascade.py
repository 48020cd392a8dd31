"""`Cascade`: models on nested sets of sources, with early stopping for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.nested import NestedEstimator, best_within
from budgetprune.baselines.stopping_rules import Stages
from budgetprune.errors import InvalidInputError
from budgetprune.selection import Index, LabelledRows
from budgetprune.utils.numbers import at_least_zero


class Cascade(NestedEstimator):
    """Cascade of LightGBM models on nested subsets of the sources; each row stops early.

    Sources are ordered, and models trained, as in `FeatureSubsets`. A row begins with the smallest subset. It
    stops at the first model whose margin (the logarithm of the ratio of the two largest probabilities) is
    large enough, and pays for the sources up to there. Thresholds are learnt on validation rows for many
    values of `lam`, by backward induction: from the last stage back, a row goes on if that is expected to
    save more loss than it costs.

    Parameters
    ----------
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    budget : float, optional
        Average cost of a prediction. The most accurate rules on validation rows whose cost there is within
        it are used. None, and no `lam`: the most accurate rules, at any cost.
    lam : float, optional
        Error rate that a unit of cost is worth: the rules with the least ``error rate + lam * cost`` on
        validation rows are used.
    num_leaves, n_estimators, learning_rate
        As in LightGBM.
    validation_fraction : float, default=0.3
        Share of the rows used to order sources and learn thresholds; the others train the models.
    lightgbm_params : dict, optional
        Further parameters of ``LGBMClassifier``, such as ``{"extra_trees": True}``. With a
        ``"class_weight"``, errors on validation rows are weighted by it too.
    random_state : optional
        Seed of the split of the rows, and of LightGBM.
    n_jobs : int, optional
        Threads of LightGBM; None means physical cores, and fewer for small data.

    Attributes
    ----------
    order_, subsets_
        As in `FeatureSubsets`; each subset is a stage.
    rules_ : StoppingRules
        All rules: `lam`, `threshold`, and `cost` and `accuracy` on validation rows.
    lam_, cost_, accuracy_ : float
        Of the rules that are used.
    threshold_ : float64 array of shape (n_stages,)
        Rows with a smaller margin go on.
    classes_ : array of shape (n_classes,)

    Notes
    -----
    Thresholds are learnt with models that were not trained on validation rows. Then all models are trained
    again on all rows, and the thresholds are kept. Accuracies of rules are measured on the rows that the
    thresholds were learnt on, so they are a little too high.

    Needs the extra ``budgetprune[lightgbm]``.
    """

    def __init__(
        self,
        *,
        costs: Any = None,
        budget: float | None = None,
        lam: float | None = None,
        num_leaves: int = 31,
        n_estimators: int = 150,
        learning_rate: float = 0.1,
        validation_fraction: float = 0.3,
        lightgbm_params: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs=costs,
            budget=budget,
            num_leaves=num_leaves,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            validation_fraction=validation_fraction,
            lightgbm_params=lightgbm_params,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.lam = lam

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.lam is not None:
            at_least_zero(self.lam, "lam")
            if self.budget is not None:
                raise InvalidInputError("give a budget or a lam, not both: each of them picks the rules.")

    def _learn(
        self,
        shares: Sequence[NDArray[np.float64]],
        columns: Sequence[Index],
        val: LabelledRows,
    ) -> None:
        super()._learn(shares, columns, val)
        stages = Stages.of(shares, val, self._prices.total(self._acquired))
        lam = stages.lambdas()
        if self.lam is not None:
            lam = np.sort(np.append(lam, self.lam))[::-1]
        self.rules_ = stages.rules(lam)

    def with_budget(self, budget: float | None) -> Self:
        """Return the fitted estimator for another budget, in place of any `lam`; nothing is trained.

        Parameters
        ----------
        budget : float or None
            Average cost of a prediction; None: the most accurate rules.
        """
        return self._with(budget=budget, lam=None)

    def with_lam(self, lam: float) -> Self:
        """Return the fitted estimator for another `lam`, in place of any budget; nothing is trained.

        Parameters
        ----------
        lam : float
            Error rate that a unit of cost is worth.
        """
        return self._with(budget=None, lam=lam)

    def _choose(self) -> None:
        rules = self.rules_
        if self.lam is None:
            k = best_within(rules.cost, rules.accuracy, self.budget)
        else:
            k = int(np.lexsort((rules.cost, self.lam * rules.cost - rules.accuracy))[0])
        self.lam_, self.cost_, self.accuracy_ = (
            float(each[k]) for each in (rules.lam, rules.cost, rules.accuracy)
        )
        self.threshold_ = rules.threshold[k]
        self._chosen = self._cascade_model(range(len(self.subsets_)), self.threshold_)
