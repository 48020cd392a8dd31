"""Measurement of a pruned model, its path and the unpruned ensemble on test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.predictor import SETTINGS, BudgetPredictor
from budgetprune.problem import acquire_along, sources_used
from budgetprune.report.measure.examples import (
    ExamplePredictor,
    choose_examples,
    example_of,
)
from budgetprune.report.measure.probabilities import measure_probabilities
from budgetprune.report.measure.results import Results
from budgetprune.report.measure.rows import EvaluationRows, draw_sample
from budgetprune.report.measure.tree import choose_tree, n_splits_at, n_splits_in, show_tree
from budgetprune.report.measure.usage import usage_shares
from budgetprune.report.options import ReportOptions
from budgetprune.report.summary.pruned import Counting, ExampleRow, Kind, Prediction, Tree
from budgetprune.selection import evenly_spaced

if TYPE_CHECKING:
    from budgetprune.model import About, BudgetModel

MOST_POINTS = 200


@dataclass(frozen=True, eq=False)
class ModelResults:
    """Results of one model on test rows, with both ways to count costs.

    Attributes
    ----------
    kind, lam, n_splits, n_features : see `OperatingPoint`; `lam` is NaN for the unpruned ensemble
    rows : EvaluationRows
    full, decided : Results
    usage : float64 array of shape (3,)
        See `OperatingPoint`.
    """

    kind: Kind
    lam: float
    n_splits: int
    n_features: int
    rows: EvaluationRows
    full: Results
    decided: Results
    usage: NDArray[np.float64]

    def results(self, counting: Counting) -> Results:
        """Return the results for one way to count costs."""
        return self.full if counting == "full" else self.decided


@dataclass(frozen=True, eq=False)
class MeasuredModel:
    """Results of one model on all rows and on the example rows, and what remains of the tree shown."""

    results: ModelResults
    predictions: tuple[Prediction, ...]
    n_tree_splits: int


@dataclass(frozen=True, eq=False)
class PrunedMeasurements:
    """Measurements of all models of a report.

    Attributes
    ----------
    model : BudgetModel
    path : PruningPath
    rows : EvaluationRows
        All rows.
    points : list of MeasuredModel
        Points of the path from expensive to cheap, on all rows or a sample.
    delivered, unpruned : MeasuredModel
        On all rows.
    unpruned_on_sample : ModelResults
        The unpruned ensemble on the rows of `points`.
    anchor : int
        Index in `points` of the delivered model's pruning.
    is_refitted : bool
        Whether the delivered model's leaf values differ from that pruning's.
    source_order : int array
        All sources with a price: those of the delivered model first, by cost.
    examples : tuple of ExampleRow
    tree : Tree
    """

    model: BudgetModel
    path: PruningPath
    rows: EvaluationRows
    points: list[MeasuredModel]
    delivered: MeasuredModel
    unpruned: MeasuredModel
    unpruned_on_sample: ModelResults
    anchor: int
    is_refitted: bool
    source_order: NDArray[np.intp]
    examples: tuple[ExampleRow, ...]
    tree: Tree


def measure_pruned(model: BudgetModel, X: Any, y: Any, options: ReportOptions) -> PrunedMeasurements:
    """Evaluate the delivered model and the unpruned ensemble on all rows, the path on a sample.

    Models are evaluated one at a time, to save memory.
    """
    path, predictor = check_path(model), model.predictor
    forest, costs = path.forest, predictor.costs
    rows = EvaluationRows.prepare(forest, X, y, options.error_costs)
    sample = draw_sample(len(rows), options.max_rows, options.seed)
    is_counted = np.isin(np.arange(forest.n_features), forest.feature)
    k_delivered = delivered_point(predictor.forest.n_splits, path, model.about)
    points = points_of(path, k_delivered)
    n_models = points.size + 2
    t = choose_tree(path, predictor.forest)

    whole_predictor = _with_forest(predictor, forest)
    lam = float(path.lam[k_delivered])
    delivered = evaluate("delivered", lam, predictor, rows, is_counted)
    options.progress(1, n_models)
    whole = evaluate("unpruned", np.nan, whole_predictor, rows, is_counted)
    options.progress(2, n_models)

    order = order_sources(delivered, whole, costs)
    position = {int(s): i for i, s in enumerate(order)}
    chosen = choose_examples(
        delivered.decided, whole.full, options.n_examples, is_classifier=rows.classes is not None
    )
    chosen_rows = [row for _, row in chosen]
    on_examples = ExamplePredictor(rows.rows[chosen_rows], rows.truth[chosen_rows], position)

    part = rows if sample is None else rows.subset(sample)
    acquired = acquire_along(forest, costs, part.rows)
    measured = []
    for n, k in enumerate(points.tolist()):
        pruning = path[k]
        pruned = _with_forest(predictor, pruning.forest)
        found = evaluate("path", pruning.lam, pruned, part, is_counted, acquired(pruning.keep))
        measured.append(MeasuredModel(found, on_examples.predict(pruned), n_splits_at(t, path, found.lam)))
        options.progress(n + 3, n_models)
    tree = show_tree(t, path, predictor.forest)
    own = MeasuredModel(delivered, on_examples.predict(predictor), n_splits_in(t, predictor.forest))
    unpruned = MeasuredModel(whole, on_examples.predict(whole_predictor), tree.n_splits)
    all_models = [*measured, own, unpruned]
    return PrunedMeasurements(
        model=model,
        path=path,
        rows=rows,
        points=measured,
        delivered=own,
        unpruned=unpruned,
        unpruned_on_sample=whole
        if sample is None
        else evaluate("unpruned", np.nan, whole_predictor, part, is_counted),
        anchor=int(np.searchsorted(points, k_delivered)),
        is_refitted=not np.array_equal(path[k_delivered].forest.value, predictor.forest.value),
        source_order=order,
        examples=tuple(
            example_of(kind, row, rows, forest, [each.predictions[i] for each in all_models])
            for i, (kind, row) in enumerate(chosen)
        ),
        tree=tree,
    )


def check_path(model: BudgetModel) -> PruningPath:
    """Return the path of a model; raise an error if it has none."""
    if model.path is None:
        raise InvalidInputError(
            "this model has no path with it, so there is nothing to choose from: write it with "
            "`budgetprune fit` or `budgetprune prune`, or save a BudgetModel with its path."
        )
    return model.path


def evaluate(
    kind: Kind,
    lam: float,
    predictor: BudgetPredictor,
    rows: EvaluationRows,
    is_counted: NDArray[np.bool_],
    acquired: NDArray[np.bool_] | None = None,
) -> ModelResults:
    """Evaluate one model on all rows, with all features and step by step.

    Parameters
    ----------
    kind, lam : see `ModelResults`
    predictor : BudgetPredictor
    rows : EvaluationRows
    is_counted : bool array of shape (n_features,)
        Features whose use is counted.
    acquired : bool array of shape (n_rows, n_sources), optional
        Sources that each row acquires in full, if already known.
    """
    forest, costs = predictor.forest, predictor.costs
    if acquired is None:
        acquired = sources_used(forest, costs, rows.rows)
    simulation = predictor.simulate(rows.rows)
    probabilities = None if forest.classes is None else predictor.predict_proba(rows.rows)
    n_undecided = float(1 - simulation.decided.mean())
    return ModelResults(
        kind=kind,
        lam=lam,
        n_splits=forest.n_splits,
        n_features=forest.used_features.size,
        rows=rows,
        full=_results(rows, predictor.predict(rows.rows), acquired, costs, 0.0, probabilities),
        decided=_results(
            rows, simulation.label, simulation.acquired, costs, n_undecided, simulation.probabilities
        ),
        usage=usage_shares(forest, rows.rows, is_counted),
    )


def delivered_point(n_splits: int, path: PruningPath, about: About | None) -> int:
    """Return the delivered point of the path; without metadata, the closest number of splits."""
    if about is None:
        return int(np.abs(path.n_splits - n_splits).argmin())
    return max(int(np.searchsorted(path.lam, about.lam, side="right")) - 1, 0)


def points_of(path: PruningPath, k_delivered: int) -> NDArray[np.intp]:
    """Return at most 200 points evenly spaced in cost, including the delivered one."""
    return np.union1d(evenly_spaced(path.cost, MOST_POINTS - 1), [k_delivered])


def order_sources(delivered: ModelResults, whole: ModelResults, costs: CostTable) -> NDArray[np.intp]:
    """Return sources with a price by their cost for the delivered model, then for the whole ensemble."""
    after, before = delivered.decided.share * costs.price, whole.full.share * costs.price
    return np.asarray(
        [s for s in np.lexsort((-before, -after)).tolist() if costs.price[s] > 0], dtype=np.intp
    )


def _with_forest(predictor: BudgetPredictor, forest: Forest) -> BudgetPredictor:
    """Return a predictor for another forest with the same settings."""
    return BudgetPredictor(forest, predictor.costs, **{name: getattr(predictor, name) for name in SETTINGS})


def _results(
    rows: EvaluationRows,
    answer: NDArray[Any],
    acquired: NDArray[np.bool_],
    costs: CostTable,
    undecided: float,
    probabilities: NDArray[np.float64] | None,
) -> Results:
    return Results(
        answer=answer,
        score=rows.score(answer),
        cost=costs.total(acquired),
        share=acquired.mean(axis=0),
        undecided=undecided,
        probabilities=measure_probabilities(rows, probabilities),
    )
