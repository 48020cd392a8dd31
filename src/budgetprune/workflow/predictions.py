"""Predictions for the rows of a table: label, probability, cost, and the features that were used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.predictor import BudgetPredictor
from budgetprune.preprocessing import InputColumns

if TYPE_CHECKING:
    import pandas as pd

SEPARATOR = ";"  # separates feature names within one field


def predict_rows(
    predictor: BudgetPredictor, rows: pd.DataFrame, *, full: bool = False, max_cost: float | None = None
) -> dict[str, Any]:
    """Predict rows, as `rows_for` returns them: a column for each part of the answer."""
    return predict_full(predictor, rows) if full else predict_early(predictor, rows, max_cost)


def inputs_of(predictor: BudgetPredictor, *, full: bool = False) -> Forest | InputColumns:
    """Describe the columns that predictions need; only `full` ones need those of unreachable stages."""
    return predictor.inputs(all_trees(predictor) if full else None)


def no_answers(predictor: BudgetPredictor) -> dict[str, Any]:
    """Return the columns of `predict_rows` for no rows."""
    classes, numbers = predictor.forest.classes, np.empty(0)
    label = {"prediction": numbers} if classes is None else {"label": classes[:0], "probability": numbers}
    return label | {
        "cost": numbers,
        "decided": numbers > 0,
        "features_used": numbers.astype(str).astype(object),
    }


def check_full(full: bool, max_cost: float | None) -> None:
    """Raise if predictions of all features are limited in cost."""
    if full and max_cost is not None:
        raise InvalidInputError("max_cost is for predictions that stop early, and full for all others.")


def predict_early(predictor: BudgetPredictor, rows: pd.DataFrame, max_cost: float | None) -> dict[str, Any]:
    """Predict with sequential acquisition and early stopping."""
    from budgetprune.staged import StagedPredictor

    simulation = predictor.simulate(rows, max_cost=max_cost)
    probability = None
    if simulation.probabilities is not None:
        probability = _of_label(predictor, simulation.label, simulation.probabilities)
        if predictor.threshold is None and not isinstance(predictor, StagedPredictor):
            # Lower bound for a decided label: remaining trees cannot change it.
            least = 1 / simulation.probabilities.shape[1]
            probability = np.where(simulation.decided, np.maximum(probability, least), probability)
    return _columns(
        predictor, simulation.label, probability, simulation.cost, simulation.decided, simulation.acquired
    )


def predict_full(predictor: BudgetPredictor, rows: pd.DataFrame) -> dict[str, Any]:
    """Predict from all features that the trees use."""
    label, acquired = predictor.predict(rows), _all_sources(predictor, rows)
    probability = None
    if predictor.forest.is_classifier:
        probability = _of_label(predictor, label, predictor.predict_proba(rows))
    is_decided = np.ones(len(rows), dtype=np.bool_)
    return _columns(predictor, label, probability, predictor.costs.total(acquired), is_decided, acquired)


def all_trees(predictor: BudgetPredictor) -> Forest:
    """Return all trees, including those of unreachable stages."""
    from budgetprune.staged import StagedPredictor

    return predictor.model.trees() if isinstance(predictor, StagedPredictor) else predictor.forest


def _all_sources(predictor: BudgetPredictor, rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return sources acquired without early stopping: all stages, or all sources on a row's paths."""
    from budgetprune.problem import sources_used
    from budgetprune.staged import StagedPredictor

    if not isinstance(predictor, StagedPredictor):
        return sources_used(predictor.forest, predictor.costs, predictor.encode(rows))
    acquired = np.zeros((len(rows), predictor.costs.n_sources), dtype=np.bool_)
    for stage in predictor.model.chain.stages:
        acquired[:, list(stage.sources)] = True
    return acquired


def _of_label(
    predictor: BudgetPredictor, label: NDArray[Any], probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    classes = predictor.forest.classes
    assert classes is not None
    order = np.argsort(classes)
    number = order[np.searchsorted(classes, label, sorter=order)]
    return probabilities[np.arange(label.size), number]


def _columns(
    predictor: BudgetPredictor,
    label: NDArray[Any],
    probability: NDArray[np.float64] | None,
    cost: NDArray[np.float64],
    decided: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
) -> dict[str, Any]:
    used = features_used(predictor, acquired)
    numbers = {"prediction": label} if probability is None else {"label": label, "probability": probability}
    return numbers | {"cost": cost, "decided": decided, "features_used": used}


def features_used(predictor: BudgetPredictor, acquired: NDArray[np.bool_]) -> NDArray[np.object_]:
    """Return the names of the tested features that each row acquired.

    Many rows acquire the same sources, so names are joined once per distinct set.
    """
    forest, costs = predictor.inputs(all_trees(predictor)), predictor.feature_costs
    tested = forest.used_features.tolist()
    needs = [costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]] for k in tested]
    packed, which = np.unique(np.packbits(acquired, axis=1), axis=0, return_inverse=True)
    sets = np.unpackbits(packed, axis=1, count=costs.n_sources).astype(np.bool_)
    is_paid = costs.price > 0
    names = np.empty(len(sets), dtype=object)
    for i, has in enumerate(sets):
        known = [k for k, needed in zip(tested, needs, strict=True) if (has | ~is_paid)[needed].all()]
        names[i] = SEPARATOR.join(predictor.feature_names[k] for k in known)
    return names[which.reshape(-1)]
