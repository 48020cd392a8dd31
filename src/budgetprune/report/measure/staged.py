"""Measurement of all chains and stopping rules of a staged model on test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.report.measure.rows import EvaluationRows, draw_sample
from budgetprune.report.measure.staged_examples import StagedExampleReader, choose_staged_examples
from budgetprune.report.measure.stopping import (
    StagedStoppingRule,
    StagePredictions,
    StoppedRows,
    predict_stages,
    stop_rows,
)
from budgetprune.report.options import ReportOptions
from budgetprune.report.summary.staged import StagedExample
from budgetprune.selection import evenly_spaced
from budgetprune.staged import SquaredErrorObjective, StagedEngine, StagedModel, StagedPredictor

if TYPE_CHECKING:
    from budgetprune.model import About

MOST_POINTS = 80


@dataclass(frozen=True, eq=False)
class StagedMeasurements:
    """Measurements of a staged model at all its budgets.

    Attributes
    ----------
    predictor : StagedPredictor
    about : About or None
    rows : EvaluationRows
        All rows.
    predictions : tuple of StagePredictions
        By chain: on all rows for the chain in use, else on the sample.
    points : mapping from points of the curve to StoppedRows
        On all rows for the point in use, else on the sample.
    everything, everything_on_sample : StoppedRows
        All rows acquire all sources of the chain in use: all rows, and the sample.
    source_order : int array
        All sources with a price; those of the chain in use first, in order of acquisition.
    examples : tuple of StagedExample
    """

    predictor: StagedPredictor
    about: About | None
    rows: EvaluationRows
    predictions: tuple[StagePredictions, ...]
    points: dict[int, StoppedRows]
    everything: StoppedRows
    everything_on_sample: StoppedRows
    source_order: NDArray[np.intp]
    examples: tuple[StagedExample, ...]

    @property
    def model(self) -> StagedModel:
        return self.predictor.model

    @property
    def n_sample_rows(self) -> int:
        return int(self.everything_on_sample.stage.size)


def measure_staged(
    predictor: StagedPredictor, about: About | None, X: Any, y: Any, options: ReportOptions
) -> StagedMeasurements:
    """Evaluate the chain in use on all rows, the others on a sample, and stop rows at each point."""
    model = predictor.model
    rows = EvaluationRows.prepare(model.all_trees(), X, y, _error_costs(model, options))
    sample = draw_sample(len(rows), options.max_rows, options.seed)
    own_chain = int(model.trade_off.chain[model.point])
    own = predict_stages(model, model.chain, rows)
    own_on_sample = own if sample is None else own.subset(sample)
    on_sample = [
        own_on_sample if number == own_chain else predict_stages(model, chain, own_on_sample.rows)
        for number, chain in enumerate(model.chains)
    ]
    buy_all = _rule_for_all_sources(predictor, own_chain)
    everything = stop_rows(model, buy_all, own)
    points = {}
    shown = np.union1d(evenly_spaced(model.trade_off.cost, MOST_POINTS - 1), [model.point]).tolist()
    for n, point in enumerate(shown):
        rule = _rule(predictor, point)
        points[point] = stop_rows(model, rule, own if point == model.point else on_sample[rule.chain])
        options.progress(n + 1, len(shown) + 1)
    order = order_stage_sources(model)
    position = {int(s): i for i, s in enumerate(order)}
    reader = StagedExampleReader(StagedEngine(model), points[model.point], everything, position)
    chosen = choose_staged_examples(points[model.point], everything, options.n_examples)
    examples = tuple(reader.read(kind, row) for kind, row in chosen)
    options.progress(len(shown) + 1, len(shown) + 1)
    return StagedMeasurements(
        predictor=predictor,
        about=about,
        rows=rows,
        predictions=tuple(own if k == own_chain else each for k, each in enumerate(on_sample)),
        points=points,
        everything=everything,
        everything_on_sample=everything if sample is None else stop_rows(model, buy_all, own_on_sample),
        source_order=order,
        examples=examples,
    )


def _error_costs(model: StagedModel, options: ReportOptions) -> Any:
    """Return the error costs of the model if it has any, else those of the options."""
    if not model.has_error_costs:
        return options.error_costs
    if options.error_costs is not None:
        raise InvalidInputError(
            "this model was trained for error costs of its own, which the report uses; leave error_costs out."
        )
    if isinstance(model.objective, SquaredErrorObjective):
        return model.objective.price
    assert model.answer is not None
    return model.answer.cost


def order_stage_sources(model: StagedModel) -> NDArray[np.intp]:
    """Return sources with a price in the order of the chain in use."""
    chains = [model.chain, *model.chains]
    acquired = dict.fromkeys(s for chain in chains for stage in chain.stages for s in stage.sources)
    others = [s for s in np.flatnonzero(model.costs.price > 0).tolist() if s not in acquired]
    return np.array([*acquired, *others], dtype=np.intp)


def _rule(predictor: StagedPredictor, point: int) -> StagedStoppingRule:
    curve = predictor.model.trade_off
    return StagedStoppingRule.of(
        predictor.model, int(curve.chain[point]), curve.thresholds[point], predictor.max_cost
    )


def _rule_for_all_sources(predictor: StagedPredictor, chain: int) -> StagedStoppingRule:
    thresholds = np.full(len(predictor.model.chains[chain]), -np.inf)
    thresholds[-1] = np.inf
    return StagedStoppingRule.of(predictor.model, chain, thresholds, predictor.max_cost)
