"""Single rows are told as the model decides them, with no value before it is paid for."""

from __future__ import annotations

import re

import numpy as np
import pytest

from budgetprune.report import summarise
from budgetprune.report.staged.measure import Rule
from budgetprune.report.staged.words import StagedLanguage
from budgetprune.report.stories import features_of, values_of

from .models import case
from .staged_cases import STAGED_CASES


@pytest.fixture(scope="module")
def summaries():
    return {name: summarise(case(name).model, case(name).X, case(name).y) for name in STAGED_CASES}


def row_of(name, story):
    forest = case(name).staged.all_trees()
    return values_of(forest, forest.prepare_rows(case(name).X)[story.row - 1])


@pytest.mark.parametrize("name", STAGED_CASES)
def test_stories_are_decisions(summaries, name):
    summary, predictor = summaries[name], case(name).predictor
    assert len(summary.stories) >= 3
    for story in summary.stories:
        decision = predictor.decide(row_of(name, story))
        assert story.cost == pytest.approx(decision.cost)
        told = [summary.sources[s].name for step in story.steps for s in step.sources]
        assert told == list(decision.acquired)
        if summary.task == "classification":
            assert story.answer == str(decision.label)
            assert story.is_right == (story.answer == story.truth)
            own = decision.probabilities[case(name).staged.classes == decision.label][0]
            assert story.steps[-1].probability == pytest.approx(own, abs=1e-4)
        else:
            assert float(story.answer) == pytest.approx(decision.label, rel=1e-3)
        is_stopped = decision.reason in ("stopped", "complete")
        assert is_stopped == ("limit" not in story.steps[-1].why)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_answers_after_each_stage(summaries, name):
    """`step` with the values that are told up to a stage says the same."""
    summary, predictor = summaries[name], case(name).predictor
    free = predictor.costs.price == 0
    for story in summary.stories:
        values, bought = row_of(name, story), []
        names = list(values)
        for step in story.steps:
            bought += [summary.sources[s].name for s in step.sources]
            has = free | np.isin(predictor.costs.source_names, bought)
            known = {
                feature: values[feature]
                for k, feature in enumerate(names)
                if all(has[s] or k not in features_of(predictor.costs, s) for s in range(has.size))
            }
            then = predictor.step(known, acquired=bought)
            assert step.cost == pytest.approx(predictor.costs.price[has].sum())
            if "costs nothing" in step.why:
                continue  # `step` takes the next stage at once
            if summary.task == "classification":
                assert step.answer == str(then.label)
                own = then.probabilities[case(name).staged.classes == then.label][0]
                assert step.probability == pytest.approx(own, abs=1e-4)
            else:
                assert float(step.answer) == pytest.approx(then.label, rel=1e-3)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_no_value_before_it_is_paid_for(summaries, name):
    summary, costs = summaries[name], case(name).predictor.costs
    is_free = costs.price == 0
    for story in summary.stories:
        values, has, told = row_of(name, story), is_free.copy(), []
        names = list(values)
        for step in story.steps:
            has |= np.isin(costs.source_names, [summary.sources[s].name for s in step.sources])
            for k, feature in enumerate(names):
                needs = costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]
                if re.search(rf"(^|, ){re.escape(feature)} ", step.values):
                    assert has[needs].all(), (story.title, feature)
                    assert feature not in told
                    told.append(feature)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_reasons_fit_the_numbers(summaries, name):
    summary = summaries[name]
    own = summary.points[summary.delivered]
    for story in summary.stories:
        assert [step.goes_on for step in story.steps] == [True] * (len(story.steps) - 1) + [False]
        for k, step in enumerate(story.steps):
            assert step.why.startswith("Went on because" if step.goes_on else "Stopped because")
            if summary.uncertainty_name in step.why:
                assert (step.uncertainty > step.threshold) == step.goes_on
                own_number, limit = re.findall(r"[\d.,]*\d", step.why.split(summary.uncertainty_name)[1])
                assert own_number != limit
            assert own.stages[k].reached > 0


@pytest.mark.parametrize("name", STAGED_CASES)
def test_titles_are_true(summaries, name):
    summary = summaries[name]
    stops = [k for k, stage in enumerate(summary.points[summary.delivered].stages) if stage.stops > 0]
    told = {story.title: story for story in summary.stories}
    assert len({story.row for story in summary.stories}) == len(told)
    assert len(told["One that stops early"].steps) - 1 == stops[0]
    assert len(told["One that goes on to the end"].steps) - 1 == stops[-1]
    if "One that goes on to the middle" in told:
        assert stops[0] < len(told["One that goes on to the middle"].steps) - 1 < stops[-1]
    if summary.task == "classification":
        assert told["One that stops early"].is_right
        assert not told["A mistake"].is_right
        avoided = told.get("A mistake that buying everything avoids")
        assert avoided is None or avoided.ending.endswith(f"have been {avoided.truth}.")


def test_fewer_stories():
    found = case("two classes")
    assert summarise(found.model, found.X, found.y, n_stories=0).stories == ()
    (one,) = summarise(found.model, found.X, found.y, n_stories=1).stories
    assert one.title == "One that stops early"


# --- Words --------------------------------------------------------------------------------------------------

LANGUAGE = StagedLanguage(
    score_name="accuracy",
    unit="EUR",
    noun="sources",
    whole="the same model with all sources",
    source_names=("a", "b"),
    class_names=("no", "yes"),
    loss_kind="errors",
    max_cost=4.0,
)
PRICE = np.array([0.0, 1.0, 0.0, 2.0, 2.0])
RULE = Rule(0, np.array([-np.inf, -np.inf, 0.1, 0.2, np.inf]), 3, PRICE, PRICE.cumsum())


def test_why_rows_stop():
    assert LANGUAGE.why(RULE, 0, 0.4) == (
        "Went on because every row does here: the next stage is worth its price for all."
    )
    assert LANGUAGE.why(RULE, 1, 0.4) == "Went on because the next stage costs nothing."
    assert (
        LANGUAGE.why(RULE, 2, 0.4) == "Went on because the probability of an error, 40.0 %, is above 10.0 %."
    )
    assert LANGUAGE.why(RULE, 2, 0.05) == (
        "Stopped because the probability of an error, 5.0 %, is not above 10.0 %."
    )
    assert LANGUAGE.why(RULE, 3, 0.4) == "Stopped because the next stage would exceed the limit of 4."
    assert "is not above 20.0 %" in LANGUAGE.why(RULE, 3, 0.1)
    assert LANGUAGE.why(RULE, 4, 0.4) == "Stopped because this is the last stage."
    stop = Rule(0, np.full(5, np.inf), 4, PRICE, PRICE.cumsum())
    assert LANGUAGE.why(stop, 2, 0.4) == "Stopped because no row goes on from here at this budget."


def test_numbers_that_are_close_are_told_apart():
    assert "10.003 %, is above 10.000 %" in LANGUAGE.why(RULE, 2, 0.10003)
    assert "10.0 %, is not above 10.0 %" in LANGUAGE.why(RULE, 2, 0.1)


def test_rules_of_stages():
    words = [LANGUAGE.rule(RULE, k) for k in range(5)]
    assert words == ["all go on", "all go on", "above 10.0 %", "limit of 4 per row", "the last stage"]
