"""Example rows of a staged model, with no value before it is paid for."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from budgetprune.report import summarise
from budgetprune.report.measure.staged_examples import choose_staged_examples, step_reason
from budgetprune.report.measure.stopping import StagedStoppingRule
from budgetprune.report.measure.values import features_of, named_values
from budgetprune.report.words.staged import step_reason as step_words
from budgetprune.report.words.staged import uncertainty_name

from ..models import case, summary_of
from ..staged_cases import STAGED_CASES


def row_of(name, example):
    forest = case(name).staged.all_trees()
    return named_values(forest, forest.prepare_rows(case(name).X)[example.row - 1])


@pytest.mark.parametrize("name", STAGED_CASES)
def test_examples_are_decisions(name):
    summary, predictor = summary_of(name), case(name).predictor
    assert len(summary.examples) >= 3
    for example in summary.examples:
        decision = predictor.decide(row_of(name, example))
        assert example.cost == pytest.approx(decision.cost)
        acquired = [summary.sources[s].name for step in example.steps for s in step.sources]
        assert acquired == list(decision.acquired)
        if summary.task == "classification":
            assert example.answer == str(decision.label)
            assert example.is_right == (example.answer == example.truth)
            own = decision.probabilities[case(name).staged.classes == decision.label][0]
            assert example.steps[-1].probability == pytest.approx(own, abs=1e-4)
        else:
            assert float(example.answer) == pytest.approx(decision.label, rel=1e-3)
        is_stopped = decision.reason in ("stopped", "complete")
        assert is_stopped == (example.steps[-1].reason != "limit")


@pytest.mark.parametrize("name", STAGED_CASES)
def test_answers_after_each_stage(name):
    """`step` with the values shown up to a stage gives the same answers."""
    summary, predictor = summary_of(name), case(name).predictor
    free = predictor.costs.price == 0
    for example in summary.examples:
        values, bought = row_of(name, example), []
        names = list(values)
        for step in example.steps:
            bought += [summary.sources[s].name for s in step.sources]
            has = free | np.isin(predictor.costs.source_names, bought)
            known = {
                feature: values[feature]
                for k, feature in enumerate(names)
                if all(has[s] or k not in features_of(predictor.costs, s) for s in range(has.size))
            }
            then = predictor.step(known, acquired=bought)
            assert step.cost == pytest.approx(predictor.costs.price[has].sum())
            if step.reason == "free":
                continue  # `step` takes the next stage at once
            if summary.task == "classification":
                assert step.answer == str(then.label)
                own = then.probabilities[case(name).staged.classes == then.label][0]
                assert step.probability == pytest.approx(own, abs=1e-4)
            else:
                assert float(step.answer) == pytest.approx(then.label, rel=1e-3)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_no_value_before_it_is_paid_for(name):
    summary, costs = summary_of(name), case(name).predictor.costs
    is_free = costs.price == 0
    for example in summary.examples:
        values, has, shown = row_of(name, example), is_free.copy(), []
        names = list(values)
        for step in example.steps:
            has |= np.isin(costs.source_names, [summary.sources[s].name for s in step.sources])
            for k, feature in enumerate(names):
                needs = costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]
                if feature in [each.name for each in step.values.shown]:
                    assert has[needs].all(), (example.kind, feature)
                    assert feature not in shown
                    shown.append(feature)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_reasons_fit_the_numbers(name):
    summary = summary_of(name)
    own = summary.points[summary.delivered]
    for example in summary.examples:
        assert [step.goes_on for step in example.steps] == [True] * (len(example.steps) - 1) + [False]
        for k, step in enumerate(example.steps):
            text = step_words(summary, step)
            assert text.startswith("Went on because" if step.goes_on else "Stopped because")
            if step.reason in ("above", "below"):
                assert (step.uncertainty > step.threshold) == step.goes_on
                own_number, limit = re.findall(r"[\d.,]*\d", text.split(uncertainty_name(summary))[1])
                assert own_number != limit
            assert own.stages[k].reached > 0


@pytest.mark.parametrize("name", STAGED_CASES)
def test_kinds_of_examples(name):
    summary = summary_of(name)
    stops = [k for k, stage in enumerate(summary.points[summary.delivered].stages) if stage.stops > 0]
    shown = {example.kind: example for example in summary.examples}
    assert len({example.row for example in summary.examples}) == len(shown)
    assert len(shown["early"].steps) - 1 == stops[0]
    assert len(shown["late"].steps) - 1 == stops[-1]
    if "middle" in shown:
        assert stops[0] < len(shown["middle"].steps) - 1 < stops[-1]
    if summary.task == "classification":
        assert shown["early"].is_right
        assert not shown["wrong"].is_right
        assert "avoidable" not in shown or shown["avoidable"].full_answer == shown["avoidable"].truth


def test_number_of_examples():
    found = case("two classes")
    assert summarise(found.model, found.X, found.y, n_examples=0).examples == ()
    (one,) = summarise(found.model, found.X, found.y, n_examples=1).examples
    assert one.kind == "early"


def test_no_row_stops_early_if_all_stop_at_the_same_stage():
    rows = SimpleNamespace(
        results=SimpleNamespace(score=np.array([0.0, 1.0, 1.0, 1.0])),
        stage=np.full(4, 2),
        predictions=SimpleNamespace(uncertainty=np.arange(4), rows=SimpleNamespace(classes=np.arange(2))),
        at_end=np.asarray,
    )
    assert choose_staged_examples(rows, rows, 5) == [("typical", 2), ("wrong", 0)]


PRICE = np.array([0.0, 1.0, 0.0, 2.0, 2.0])
RULE = StagedStoppingRule(0, np.array([-np.inf, -np.inf, 0.1, 0.2, np.inf]), 3, PRICE, PRICE.cumsum())


def test_reasons_to_stop_or_go_on():
    reasons = [step_reason(RULE, k, 0.4) for k in range(5)]
    assert reasons == ["continue", "free", "above", "limit", "last"]
    assert [step_reason(RULE, k, 0.1) for k in (2, 3)] == ["below", "below"]
    stop = StagedStoppingRule(0, np.full(5, np.inf), 4, PRICE, PRICE.cumsum())
    assert step_reason(stop, 2, 0.4) == "stop"
