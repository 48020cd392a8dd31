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
    predictor: BudgetPredictor,
    rows: pd.DataFrame,
    *,
    full: bool = False,
    max_cost: float | None = None,
    with_shares: bool = False,
    interval: float | None = None,
) -> dict[str, Any]:
    """Predict rows, as `rows_for` returns them: a column for each part of the answer.

    Parameters
    ----------
    predictor : BudgetPredictor
    rows : DataFrame
    full : whether to acquire everything that the trees use
    max_cost : largest cost of one row
    with_shares : whether there are columns with the probabilities of all classes
    interval : level of the columns ``lower`` and ``upper``; None: there are none
    """
    if full:
        return predict_full(predictor, rows, with_shares=with_shares)
    return predict_early(predictor, rows, max_cost, with_shares=with_shares, interval=interval)


def class_columns(predictor: BudgetPredictor) -> tuple[str, ...]:
    """Return the names of the columns with the probability of each class."""
    if predictor.forest.classes is None:
        raise InvalidInputError("--proba is for classes, and this model predicts numbers; leave it out.")
    return tuple(f"probability_{label}" for label in predictor.forest.classes.tolist())


def _shares(predictor: BudgetPredictor, shares: NDArray[np.float64] | None) -> dict[str, Any]:
    """Return the probabilities of all classes as columns; none for regression."""
    return {} if shares is None else dict(zip(class_columns(predictor), shares.T, strict=True))


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


def predict_early(
    predictor: BudgetPredictor,
    rows: pd.DataFrame,
    max_cost: float | None,
    *,
    with_shares: bool = False,
    interval: float | None = None,
) -> dict[str, Any]:
    """Predict with sequential acquisition and early stopping."""
    from budgetprune.staged import StagedPredictor

    simulation = predictor.simulate(rows, max_cost=max_cost)
    probability = None
    further = _shares(predictor, simulation.probabilities) if with_shares else {}
    if interval is not None:
        further |= dict(zip(("lower", "upper"), predictor.intervals(simulation, interval).T, strict=True))
    if simulation.probabilities is not None:
        probability = _of_label(predictor, simulation.label, simulation.probabilities)
        if predictor.threshold is None and not isinstance(predictor, StagedPredictor):
            # Lower bound for a decided label: remaining trees cannot change it.
            least = 1 / simulation.probabilities.shape[1]
            probability = np.where(simulation.decided, np.maximum(probability, least), probability)
    numbers = _answers(simulation.label, probability) | further
    return numbers | _costs(predictor, simulation.cost, simulation.decided, simulation.acquired)


def predict_full(
    predictor: BudgetPredictor, rows: pd.DataFrame, *, with_shares: bool = False
) -> dict[str, Any]:
    """Predict from all features that the trees use."""
    label, acquired = predictor.predict(rows), _all_sources(predictor, rows)
    probability = shares = None
    if predictor.forest.is_classifier:
        shares = predictor.predict_proba(rows)
        probability = _of_label(predictor, label, shares)
    is_decided = np.ones(len(rows), dtype=np.bool_)
    numbers = _answers(label, probability) | (_shares(predictor, shares) if with_shares else {})
    return numbers | _costs(predictor, predictor.costs.total(acquired), is_decided, acquired)


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


def _answers(label: NDArray[Any], probability: NDArray[np.float64] | None) -> dict[str, Any]:
    return {"prediction": label} if probability is None else {"label": label, "probability": probability}


def _costs(
    predictor: BudgetPredictor,
    cost: NDArray[np.float64],
    decided: NDArray[np.bool_],
    acquired: NDArray[np.bool_],
) -> dict[str, Any]:
    return {"cost": cost, "decided": decided, "features_used": features_used(predictor, acquired)}


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
