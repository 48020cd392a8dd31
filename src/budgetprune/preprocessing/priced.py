"""`PricedPreprocessing`: a preprocessing with the prices of its raw columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.preprocessing.preprocessing import Preprocessing


@dataclass(frozen=True, eq=False)
class PricedPreprocessing:
    """Preprocessing, costs of its raw columns, and costs of the encoded features that follow from these.

    Both tables of costs have the same sources.

    Attributes
    ----------
    preprocessing : Preprocessing
    raw_costs : CostTable
    costs : CostTable
    """

    preprocessing: Preprocessing
    raw_costs: CostTable
    costs: CostTable

    @classmethod
    def of(cls, preprocessing: Preprocessing, costs: Any) -> PricedPreprocessing:
        """Resolve costs of raw columns.

        Parameters
        ----------
        preprocessing : Preprocessing
        costs : FeatureCosts or its argument, or CostTable of the raw columns
        """
        names = preprocessing.raw_names
        if not isinstance(costs, CostTable):
            costs = FeatureCosts.of(costs).resolve(len(names), names if preprocessing.has_names else None)
        if costs.n_features != len(names):
            raise InvalidInputError(
                f"the costs are for {costs.n_features} columns, but there are {len(names)} raw columns."
            )
        raw_costs = preprocessing.raw_costs(costs)
        return cls(preprocessing, raw_costs, preprocessing.feature_costs(raw_costs))
