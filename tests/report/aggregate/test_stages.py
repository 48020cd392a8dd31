"""Where rows stop, and what going on saves, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.report.aggregate.stages import stage_rule
from budgetprune.report.measure.stopping import StagedStoppingRule
from budgetprune.report.words.staged import stopping_stages
from budgetprune.staged.prediction.engine import StagedEngine

from ..models import case, summary_of
from ..staged_cases import STAGED_CASES, predictors_of, score_of


def stages_of(predictor, X):
    engine = StagedEngine(predictor.model)
    limit = np.inf if predictor.max_cost is None else predictor.max_cost
    return engine._simulate(engine.forest.prepare_rows(X), engine.is_free, limit)[1]


def outputs_at(name, chain, k):
    """Outputs of one stage for all rows."""
    found = case(name)
    rows = found.staged.all_trees().prepare_rows(found.X)
    thresholds = np.where(np.arange(len(chain)) < k, -np.inf, np.inf)
    stage, outputs = chain.follow(rows, thresholds, found.staged.objective)
    assert np.all(stage == k)
    return outputs


def truths(name):
    found = case(name)
    return found.y if found.staged.classes is None else np.searchsorted(found.staged.classes, found.y)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_where_rows_stop(name):
    summary, found = summary_of(name), case(name)
    for point, predictor in zip(summary.points, predictors_of(case(name)), strict=False):
        stage = stages_of(predictor, found.X)
        chain = predictor.model.chain
        assert len(point.stages) > stage.max()
        for k, outcome in enumerate(point.stages):
            answer = predictor.model.answers(outputs_at(name, chain, k))
            is_here = stage == k
            assert outcome.stops == pytest.approx(is_here.mean(), abs=1e-4)
            assert outcome.reached == pytest.approx(np.mean(stage >= k), abs=1e-4)
            assert outcome.score_all == pytest.approx(score_of(case(name), answer, slice(None)), abs=1e-4)
            if found.staged.classes is None:
                assert outcome.stops_by_class is None
            else:
                shares = [is_here[found.y == label].mean() for label in found.staged.classes]
                assert outcome.stops_by_class == pytest.approx(shares)
            if is_here.any():
                assert outcome.score_stops == pytest.approx(score_of(case(name), answer, is_here), abs=1e-4)
            else:
                assert outcome.score_stops is None
            threshold = predictor.model.thresholds[k]
            if outcome.rule == "threshold":
                assert outcome.threshold == pytest.approx(threshold, rel=1e-4)
            paid = summary.chains[point.chain][k].paid
            assert paid == pytest.approx(predictor.model.paid[k])
        assert sum(outcome.stops for outcome in point.stages) == pytest.approx(1, abs=1e-3)
        assert sum(outcome.expected_stops for outcome in point.stages) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_value_of_the_next_stage(name):
    """Row by row, with the loss of the model."""
    summary, found = summary_of(name), case(name)
    for point, predictor in zip(summary.points, predictors_of(case(name)), strict=False):
        model = predictor.model
        stage, paid = stages_of(predictor, found.X), model.paid
        loss = np.column_stack(
            [
                model.objective.loss(outputs_at(name, model.chain, k), truths(name))
                for k in range(len(model.chain))
            ]
        )
        end = loss[np.arange(stage.size), stage]
        assert point.outcome.loss == pytest.approx(end.mean(), rel=1e-4)
        for k, outcome in enumerate(point.stages):
            if outcome.next is None:
                continue
            groups = {
                "reached": (stage >= k, end, paid[stage] - paid[k]),
                "continued": (stage > k, end, paid[stage] - paid[k]),
                "stopped": (stage == k, loss[:, k + 1], np.full(stage.size, paid[k + 1] - paid[k])),
            }
            for group, (rows, further, cost) in groups.items():
                trade = getattr(outcome.next, group)
                if not rows.any():
                    assert trade is None
                    continue
                assert trade.n_rows == rows.sum()
                assert trade.stopping == pytest.approx(loss[rows, k].mean(), rel=1e-4, abs=1e-9)
                assert trade.going_on == pytest.approx(further[rows].mean(), rel=1e-4, abs=1e-9)
                assert trade.cost == pytest.approx(cost[rows].mean(), rel=1e-4, abs=1e-9)
                if trade.saved is not None:
                    gain = (loss[rows, k] - further[rows]).mean()
                    assert trade.saved == pytest.approx(gain / cost[rows].mean(), rel=1e-3, abs=1e-6)


def test_a_limit_for_each_row():
    """Rows that would go on stop where the limit is, and are told apart from others."""
    summary = summary_of("three classes")
    own = summary.points[summary.delivered]
    assert own.outcome.undecided > 0
    assert "would go on, but a row may cost at most 18.5." in stopping_stages(summary, own)
    assert own.stages[-1].rule == "limit"
    assert own.stages[-1].next is None


def test_rules_of_stages():
    price = np.array([0.0, 1.0, 0.0, 2.0, 2.0])
    rule = StagedStoppingRule(0, np.array([-np.inf, -np.inf, 0.1, 0.2, np.inf]), 3, price, price.cumsum())
    assert [stage_rule(rule, k) for k in range(5)] == ["continue", "continue", "threshold", "limit", "last"]
    stop = StagedStoppingRule(0, np.full(5, np.inf), 4, price, price.cumsum())
    assert stage_rule(stop, 2) == "stop"
