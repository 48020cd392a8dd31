"""Example rows of a pruned model, and their predictions step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem import sources_used
from budgetprune.report.measure.results import Results
from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.measure.values import (
    MOST_VALUES,
    NamedValues,
    known_features,
    named_values,
    plain_value,
)
from budgetprune.report.summary.pruned import ExampleKind, ExampleRow, KnownValues, Prediction
from budgetprune.report.summary.values import FeatureValue

# Maximum number of steps shown.
MOST_STEPS = 12

# From the index of a source to its index in the summary.
Positions = dict[int, int]


def choose_examples(
    results: Results, reference: Results, n_examples: int, *, is_classifier: bool
) -> list[tuple[ExampleKind, int]]:
    """Choose a typical, a cheap, an expensive, a lost and a wrong row.

    Parameters
    ----------
    results : results of the delivered model, as predictions stop once decided
    reference : results of the unpruned ensemble
    n_examples : maximum number of rows
    is_classifier : whether the score of a row is 1 for a right label, else 0
    """
    # For regression, the better half counts as right.
    is_right = results.score == 1 if is_classifier else results.score >= np.median(results.score)
    median = np.median(results.cost)
    lost = np.where(is_right, -np.inf, reference.score - results.score)
    wrong = results.score if not is_classifier else np.abs(results.cost - median)
    # The row with the smallest rank is taken.
    wanted: list[tuple[ExampleKind, NDArray[np.bool_], NDArray[np.float64]]] = [
        ("typical", is_right, np.abs(results.cost - median)),
        ("cheap", is_right & (results.cost < median), results.cost),
        ("expensive", is_right & (results.cost > median), -results.cost),
        ("lost", lost > 0, -lost),
        ("wrong", ~is_right, wrong),
    ]
    chosen: dict[int, ExampleKind] = {}
    for kind, is_candidate, rank in wanted[:n_examples]:
        candidates = np.setdiff1d(np.flatnonzero(is_candidate), list(chosen))
        if candidates.size:
            chosen[int(candidates[rank[candidates].argmin()])] = kind
    return [(kind, row) for row, kind in chosen.items()]


def example_of(
    kind: ExampleKind, row: int, rows: EvaluationRows, forest: Forest, predictions: list[Prediction]
) -> ExampleRow:
    """Return an example row with the values that some prediction shows; others are left out for privacy."""
    values = list(named_values(forest, rows.rows[row]).items())
    shown = {k for prediction in predictions for step in prediction.known for k in step.features}
    return ExampleRow(
        kind=kind,
        row=row + 1,
        truth=plain_value(rows.target_of(row)),
        values={k: FeatureValue(values[k][0], plain_value(values[k][1])) for k in sorted(shown)},
    )


@dataclass(frozen=True, eq=False)
class ExamplePredictor:
    """Predict rows step by step with any model, and record the bounds after each acquisition.

    Attributes
    ----------
    rows : array of prepared rows
    truth : int64 or float64 array
        As in `EvaluationRows`: targets, or class indices with -1 for unknown labels.
    position : mapping from sources to their indices in the summary
    """

    rows: NDArray[Any]
    truth: NDArray[Any]
    position: Positions

    def predict(self, predictor: BudgetPredictor) -> tuple[Prediction, ...]:
        """Predict all rows."""
        return tuple(
            self._predict_row(predictor, row, truth) for row, truth in zip(self.rows, self.truth, strict=True)
        )

    def _predict_row(self, predictor: BudgetPredictor, row: NDArray[Any], truth: Any) -> Prediction:
        forest, costs = predictor.forest, predictor.costs
        decision = predictor.decide(named_values(forest, row))
        index = {name: s for s, name in enumerate(costs.source_names)}
        acquired = [index[source] for source in decision.acquired]
        steps = acquired[:MOST_STEPS]
        known = _known_at_steps(costs, steps)
        lower, upper, guess = zip(*_bounds(predictor, row, steps, known, decision.label), strict=True)
        return Prediction(
            answer=plain_value(decision.label),
            is_right=None if forest.classes is None else bool(_class_index(forest, decision.label) == truth),
            cost=float(decision.cost),
            full_cost=float(costs.total(sources_used(forest, costs, row[np.newaxis]))[0]),
            reason=decision.reason,
            cut=_cut(predictor, decision.label),
            n_acquired=len(acquired),
            sources=tuple(self.position[s] for s in steps),
            known=_new_values(known, forest),
            lower=lower,
            upper=upper,
            guess=guess,
        )


def _known_at_steps(costs: CostTable, acquired: list[int]) -> NDArray[np.bool_]:
    """Return the features that are known before and after each acquisition, one row each."""
    has = costs.price == 0
    known = [known_features(costs, has)]
    for s in acquired:
        has[s] = True
        known.append(known_features(costs, has))
    return np.array(known)


def _new_values(known: NDArray[np.bool_], forest: Forest) -> tuple[KnownValues, ...]:
    """Return the tested features that each step adds to the known ones."""
    is_new = np.diff(known, axis=0, prepend=False)
    is_new &= np.isin(np.arange(forest.n_features), forest.feature)
    steps = [np.flatnonzero(step).tolist() for step in is_new]
    return tuple(KnownValues(tuple(step[:MOST_VALUES]), len(step[MOST_VALUES:])) for step in steps)


def _bounds(
    predictor: BudgetPredictor,
    row: NDArray[Any],
    acquired: list[int],
    known: NDArray[np.bool_],
    label: Any,
) -> list[tuple[float, float, float]]:
    """Return lower bound, upper bound and best guess before and after each acquisition."""
    forest, names = predictor.forest, predictor.costs.source_names
    values = named_values(forest, row)
    output = 0 if forest.classes is None else _class_index(forest, label)
    free = _selected(values, known[0])
    bounds = []
    for n, is_known in enumerate(known):
        paid = _selected(values, is_known & ~known[0])
        step = predictor.step(paid, known=free, acquired=[names[s] for s in acquired[:n]])
        guess = step.label if step.probabilities is None else step.probabilities[output]
        bounds.append((float(step.lower[output]), float(step.upper[output]), float(guess)))
    return bounds


def _class_index(forest: Forest, label: Any) -> int:
    return int(np.flatnonzero(forest.classes == label)[0])


def _cut(predictor: BudgetPredictor, label: Any) -> float | None:
    """Return the probability above which a label is predicted; None unless there are two."""
    classes, threshold = predictor.forest.classes, predictor.threshold
    if classes is None or classes.size != 2:
        return None
    second = 0.5 if threshold is None else threshold
    return float(second if label == classes[1] else 1 - second)


def _selected(values: NamedValues, mask: NDArray[np.bool_]) -> NamedValues:
    return {name: value for (name, value), is_in in zip(values.items(), mask, strict=True) if is_in}
