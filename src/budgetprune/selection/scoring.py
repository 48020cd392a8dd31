"""`PruningScorer`: scores of prunings by a scikit-learn scorer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.problem import Pruning
from budgetprune.refit import Refit
from budgetprune.selection.options import SelectionOptions
from budgetprune.selection.rows import LabelledRows
from budgetprune.selection.scored_model import EarlyLabels, scored_model


@dataclass(frozen=True, eq=False)
class PruningScorer:
    """Score prunings, refitted or not, as if each were a fitted estimator.

    Attributes
    ----------
    scorer : callable ``(estimator, X, y)``
        It gets `sample_weight` and `qid` too, if there are any and it has parameters of these names.
    prices : CostTable
    options : SelectionOptions
    """

    scorer: Callable[..., float]
    prices: CostTable
    options: SelectionOptions

    @cached_property
    def _parameters(self) -> set[str]:
        parameters = set(inspect.signature(self.scorer).parameters)
        # Scorers of scikit-learn pass weights on to their measure, which may not take any.
        measure = getattr(self.scorer, "_score_func", self.scorer)
        takes_weights = "sample_weight" in inspect.signature(measure).parameters
        return parameters if takes_weights else parameters - {"sample_weight"}

    def __call__(
        self,
        pruned: Pruning | Refit,
        rows: LabelledRows,
        scores: NDArray[np.float64],
        early: EarlyLabels | None = None,
    ) -> float:
        """Score a pruning on rows whose `scores` are known; by the `early` labels if there are any."""
        extras = {"sample_weight": rows.weight, "qid": rows.qid}
        given = {
            name: value for name, value in extras.items() if value is not None and name in self._parameters
        }
        model = scored_model(pruned, self.prices, self.options, rows.X, scores, early)
        try:
            return float(self.scorer(model, rows.X, rows.y, **given))
        except InvalidInputError:
            raise
        except ValueError as error:
            raise InvalidInputError(
                f"the scorer fails on {len(rows)} validation rows ({error}); a class may be too rare to be "
                "in each half of them: give more of them, or another scoring."
            ) from error
