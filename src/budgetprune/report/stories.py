"""Example rows, and how models predict them step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem.acquisition import sources_used
from budgetprune.report.judge import Judge
from budgetprune.report.measure import Measured
from budgetprune.report.numbers import short
from budgetprune.report.summary import Story, Telling
from budgetprune.report.words import Language

# Maximum numbers of steps and of values per source shown.
MOST_STEPS = 12
MOST_VALUES = 3

Values = dict[str, Any]
# From the index of a source to its index in the summary.
Places = dict[int, int]


def choose_rows(
    delivered: Measured, whole: Measured, n_stories: int, language: Language
) -> list[tuple[str, int]]:
    """Choose typical, easy, hard and wrongly predicted rows, each with a title."""
    taken, forest = delivered.decided, whole.full
    is_classifier = delivered.judge.classes is not None
    # For regression, the better half counts as right.
    is_good = taken.quality == 1 if is_classifier else taken.quality >= np.median(taken.quality)
    median = np.median(taken.cost)
    lost = np.where(is_good, -np.inf, forest.quality - taken.quality)
    off = taken.quality if not is_classifier else np.abs(taken.cost - median)
    wanted = [
        ("A typical one", is_good, np.abs(taken.cost - median)),
        ("An easy one", is_good & (taken.cost < median), taken.cost),
        ("A hard one", is_good & (taken.cost > median), -taken.cost),
        (f"What you give up: {language.whole} knew better", lost > 0, -lost),
        ("A mistake" if is_classifier else "The one that is furthest off", ~is_good, off),
    ]
    chosen: dict[int, str] = {}
    for title, is_candidate, rank in wanted[:n_stories]:
        candidates = np.setdiff1d(np.flatnonzero(is_candidate), list(chosen))
        if candidates.size:
            chosen[int(candidates[rank[candidates].argmin()])] = title
    return [(title, row) for row, title in chosen.items()]


def story(title: str, row: int, judge: Judge, forest: Forest, costs: CostTable, place: Places) -> Story:
    """Return the facts about a row that do not depend on the model."""
    values = values_of(forest, judge.rows[row])
    names = list(values)
    is_used = np.isin(np.arange(forest.n_features), forest.feature)
    told: dict[str, str] = {}
    for s, i in place.items():
        columns = [k for k in features_of(costs, s) if is_used[k]]
        if columns:
            told[str(i)] = values_text(values, [names[k] for k in columns])
    return Story(title, row + 1, value_text(judge.truth_of(row)), told)


class Teller:
    """Predict rows step by step, and record the bounds after each acquisition.

    Parameters
    ----------
    rows : array of prepared rows
    truths : int64 or float64 array
        As in `Judge`: targets, or class indices with -1 for unknown labels.
    place : mapping from sources to their indices in the summary
    language : Language
    """

    def __init__(self, rows: NDArray[Any], truths: NDArray[Any], place: Places, language: Language) -> None:
        self.rows, self.truths, self.place, self.language = rows, truths, place, language

    def __call__(self, predictor: BudgetPredictor) -> tuple[Telling, ...]:
        return tuple(
            self._tell(predictor, row, truth) for row, truth in zip(self.rows, self.truths, strict=True)
        )

    def _tell(self, predictor: BudgetPredictor, row: NDArray[Any], truth: Any) -> Telling:
        forest, costs = predictor.forest, predictor.costs
        decision = predictor.decide(values_of(forest, row))
        number = {name: s for s, name in enumerate(costs.source_names)}
        bought = [number[source] for source in decision.acquired]
        band = self._band(predictor, row, bought[:MOST_STEPS], decision.label)
        full_cost = float(costs.total(sources_used(forest, costs, row[np.newaxis]))[0])
        lower, upper, guess = (tuple(map(short, each)) for each in zip(*band, strict=True))
        return Telling(
            answer=value_text(decision.label),
            is_right=None if forest.classes is None else bool(_number(forest, decision.label) == truth),
            cost=short(decision.cost),
            full_cost=short(full_cost),
            reason=decision.reason,
            ending=self.language.ending(decision.reason, decision.cost, full_cost),
            cut=_cut(predictor, decision.label),
            n_bought=len(bought),
            sources=tuple(self.place[s] for s in bought[:MOST_STEPS]),
            lower=lower,
            upper=upper,
            guess=guess,
        )

    def _band(
        self, predictor: BudgetPredictor, row: NDArray[Any], bought: list[int], label: Any
    ) -> list[tuple[float, float, float]]:
        """Return lower bound, upper bound and best guess before and after each acquisition."""
        forest, costs = predictor.forest, predictor.costs
        values = values_of(forest, row)
        output = 0 if forest.classes is None else _number(forest, label)
        has = costs.price == 0
        is_free = _known(costs, has)
        at_hand = _of_mask(values, is_free)
        band = []
        for n in range(len(bought) + 1):
            has[bought[:n]] = True
            paid = _of_mask(values, _known(costs, has) & ~is_free)
            then = predictor.step(paid, known=at_hand, acquired=[costs.source_names[s] for s in bought[:n]])
            guess = then.label if then.probabilities is None else then.probabilities[output]
            band.append((float(then.lower[output]), float(then.upper[output]), float(guess)))
        return band


def _number(forest: Forest, label: Any) -> int:
    """Return the class index of a label."""
    return int(np.flatnonzero(forest.classes == label)[0])


def _cut(predictor: BudgetPredictor, label: Any) -> float | None:
    """Return the probability above which a label is predicted; None unless there are two."""
    classes, threshold = predictor.forest.classes, predictor.threshold
    if classes is None or classes.size != 2:
        return None
    second = 0.5 if threshold is None else threshold
    return short(second if label == classes[1] else 1 - second)


def _of_mask(values: Values, mask: NDArray[np.bool_]) -> Values:
    return {name: value for (name, value), is_in in zip(values.items(), mask, strict=True) if is_in}


def _needing(costs: CostTable) -> NDArray[np.intp]:
    """Return the feature of each entry of `CostTable.needs`."""
    return np.repeat(np.arange(costs.n_features), np.diff(costs.needs_start))


def features_of(costs: CostTable, s: int) -> list[int]:
    """Return the features that need a source."""
    return _needing(costs)[costs.needs == s].tolist()  # type: ignore[no-any-return]


def _known(costs: CostTable, has: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the features whose sources are all acquired."""
    n_missing = np.bincount(_needing(costs), weights=~has[costs.needs], minlength=costs.n_features)
    return np.asarray(n_missing == 0)


def values_of(forest: Forest, row: NDArray[Any]) -> Values:
    """Return a prepared row by feature name, with categories instead of codes."""
    names = forest.names
    categories = forest.feature_categories
    return {
        name: float(x) if known is None else None if np.isnan(x) else known[int(x)]
        for name, known, x in zip(names, categories, row, strict=True)
    }


def values_text(values: Values, names: Sequence[str]) -> str:
    """Format the first few values with their names."""
    texts = [f"{name} {value_text(values[name])}" for name in names[:MOST_VALUES]]
    more = f" and {len(names) - MOST_VALUES} more" if len(names) > MOST_VALUES else ""
    return ", ".join(texts) + more


def value_text(value: Any) -> str:
    """Format a value."""
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return str(value)
