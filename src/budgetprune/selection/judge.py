"""How good a forest is on some rows, by whatever scorer the user has in mind."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.problem.pruning import Pruning
from budgetprune.refit import Refit
from budgetprune.selection.rows import LabelledRows
from budgetprune.utils.jit import njit, prange


class Decided(NamedTuple):
    """Labels (or targets) of predictions that stopped early, with some slack."""

    labels: NDArray[Any]
    slack: float


@dataclass(frozen=True)
class Judge:
    """Call a scorer on prunings (refitted or not) as if each were a fitted estimator.

    Attributes
    ----------
    scorer : callable ``(estimator, X, y)``
        It gets `sample_weight` and `qid` too if there are any and it has parameters of these names.
    pose : callable ``(made, X, scores, decided)``
        Makes an estimator of a pruning whose scores on `X` are known, and its decided labels if these differ.
    """

    scorer: Callable[..., float]
    pose: Callable[[Pruning | Refit, Any, NDArray[np.float64], Decided | None], Any]

    @cached_property
    def _wanted(self) -> set[str]:
        wanted = set(inspect.signature(self.scorer).parameters)
        # Scorers of scikit-learn pass weights on to their measure, which may know none.
        measure = getattr(self.scorer, "_score_func", self.scorer)
        return (
            wanted if "sample_weight" in inspect.signature(measure).parameters else wanted - {"sample_weight"}
        )

    def __call__(
        self,
        made: Pruning | Refit,
        rows: LabelledRows,
        scores: NDArray[np.float64],
        decided: Decided | None = None,
    ) -> float:
        """Score what was made on rows whose `scores` are known; with `decided`, by these labels."""
        extras = {"sample_weight": rows.weight, "qid": rows.qid}
        given = {name: value for name, value in extras.items() if value is not None and name in self._wanted}
        try:
            return float(self.scorer(self.pose(made, rows.X, scores, decided), rows.X, rows.y, **given))
        except InvalidInputError:
            raise
        except ValueError as error:
            raise InvalidInputError(
                f"the scorer fails on {len(rows)} validation rows ({error}); a class may be too rare to be "
                "in each half of them: give more of them, or another scoring."
            ) from error


@njit(cache=True, parallel=True)
def scores_along(
    stop: NDArray[np.int32],
    parent: NDArray[np.int32],
    until: NDArray[np.int64],
    n_points: int,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add up scores for nested prunings, of shape (n_points, n_rows, n_outputs), in the order of the trees.

    Split h stays for the first `until[h]` points, so on a row's way from its leaf to the root, each node
    answers for the points from its own `until` to its parent's::

        leaf    0 |--- leaf ---|                                       until = 0
        inner h                |--- h ---|                             until[h]
        root                             |--- root ---| n_points       until[root]
    """
    n_trees, n_rows = stop.shape
    scores = np.empty((n_points, n_rows, base.size))
    for i in prange(n_rows):
        for j in range(n_points):
            scores[j, i] = base
        for t in range(n_trees):
            h, first = stop[t, i], 0
            while first < n_points:
                above = parent[h]
                last = n_points if above < 0 else until[above]
                for j in range(first, last):
                    if tree_output[t] >= 0:
                        scores[j, i, tree_output[t]] += value[h, 0]
                    else:
                        for k in range(base.size):
                            scores[j, i, k] += value[h, k]
                first, h = last, above
    return scores
