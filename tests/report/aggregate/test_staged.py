"""Numbers of the summary of a staged model, compared with direct counts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, r2_score

from budgetprune import StagedPredictor
from budgetprune.model import BudgetModel
from budgetprune.report import StagedSummary, headline, summarise, to_json
from budgetprune.report.words.choice import command, use

from ..models import case, summary_of
from ..staged_cases import STAGED_CASES, predictors_of, score_of


@pytest.mark.parametrize("name", STAGED_CASES)
def test_costs_and_scores(name):
    summary, found = summary_of(name), case(name)
    assert isinstance(summary, StagedSummary)
    assert len(summary.points) == len(found.staged.trade_off) + 1
    places = {source.name: i for i, source in enumerate(summary.sources)}
    for point, predictor in zip(summary.points, predictors_of(case(name)), strict=False):
        simulation, outcome = predictor.simulate(found.X), point.outcome
        assert outcome.cost == pytest.approx(simulation.cost.mean(), rel=1e-4)
        assert outcome.largest == pytest.approx(simulation.cost.max(), rel=1e-4)
        assert outcome.undecided == pytest.approx(1 - simulation.decided.mean(), abs=1e-3)
        share = simulation.acquired.mean(axis=0)
        lines = {line.source: line for line in outcome.lines}
        for s, source in enumerate(predictor.costs.source_names):
            if places.get(source) in lines:
                assert lines[places[source]].share == pytest.approx(share[s], rel=1e-2)
        assert sum(line.cost for line in outcome.lines) + outcome.others.cost == pytest.approx(
            outcome.cost, rel=1e-2, abs=1e-9
        )
        if found.staged.classes is None:
            assert outcome.score == pytest.approx(r2_score(found.y, simulation.label), abs=1e-4)
            assert outcome.mean_error == pytest.approx(np.abs(simulation.label - found.y).mean(), rel=1e-4)
        else:
            assert outcome.score == pytest.approx(np.mean(simulation.label == found.y), abs=1e-5)
            expected = confusion_matrix(found.y, simulation.label, labels=found.staged.classes)
            np.testing.assert_array_equal(outcome.confusion, expected)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_comparison_with_all_sources(name):
    summary, found = summary_of(name), case(name)
    everything, costs = summary.points[-1], found.staged.costs
    assert everything.kind == "everything"
    bought = [s for stage in found.staged.chain.stages for s in stage.sources]
    limit = np.inf if summary.max_cost is None else summary.max_cost
    assert everything.outcome.cost <= limit
    if costs.price[bought].sum() <= limit:
        assert everything.outcome.cost == pytest.approx(costs.price[bought].sum())
        answer = found.predictor.predict(found.X)
        assert everything.outcome.score == pytest.approx(score_of(case(name), answer, slice(None)), abs=1e-5)
    own = summary.points[summary.delivered].outcome
    assert own.gained == pytest.approx(own.score - everything.outcome.score, abs=2e-5)
    for number in (own.cost, everything.outcome.cost):
        assert f"costs {number:.3g}" in headline(summary).replace(".00", "")


@pytest.mark.parametrize("name", STAGED_CASES)
def test_budgets_select_their_points(name):
    summary, model = summary_of(name), case(name).staged
    for i, point in enumerate(summary.points[:-1]):
        assert point.expected_cost == pytest.approx(model.trade_off.cost[i], rel=1e-4)
        assert point.expected_score == pytest.approx(model.trade_off.score[i], rel=1e-4)
        if point.budget is not None:
            assert model.within(float(point.budget)).point == i
            assert command(summary, point) == (
                f"budgetprune rebudget MODEL --budget {point.budget} --out OTHER"
            )
    assert summary.delivered == model.point
    assert summary.points[model.point].budget is not None
    assert command(summary, summary.points[-1]) == ""


def test_points_without_a_budget():
    """Error costs may make the last points worse than cheaper ones."""
    found = case("three classes")
    model = replace(found.model, predictor=StagedPredictor(replace(found.staged, best=2)))
    summary = summarise(model, found.X, found.y)
    assert [point.budget is None for point in summary.points[2:]] == [False, True, True, True]
    assert "No budget selects this point" in use(summary.points[3])


def test_kinds_of_losses():
    assert {name: summary_of(name).loss_kind for name in STAGED_CASES} == {
        "three classes": "cost",
        "two classes": "errors",
        "log loss": "log loss",
        "numbers": "squared error",
        "priced numbers": "cost",
    }
    assert "With the cost of errors" in headline(summary_of("three classes"))
    assert "Together" not in headline(summary_of("two classes"))


def test_other_points_are_measured_on_a_sample():
    found = case("three classes")
    summary = summarise(found.model, found.X, found.y, max_rows=40, seed=1)
    whole = summarise(found.model, found.X, found.y)
    assert (summary.n_rows, summary.n_sample_rows) == (240, 40)
    for point, on_all in zip(summary.points, whole.points, strict=True):
        is_sample = point.kind == "point"
        assert point.n_rows == (40 if is_sample else 240)
        if not is_sample:
            assert point == on_all
    assert any("random sample of 40 rows" in note for note in to_json(summary)["notes"])


def test_cross_fitted_scores_of_another_metric_are_left_out():
    """They may be of any kind."""
    found = case("two classes")
    about = replace(found.model.about, score_name="f1")
    for model in (BudgetModel(found.predictor, None, None), replace(found.model, about=about)):
        summary = summarise(model, found.X, found.y)
        assert all(point.expected_score is None for point in summary.points)
        assert summary.points[0].expected_cost is not None


def test_unknown_labels():
    found = case("three classes")
    y = found.y.astype(object)
    y[:7] = "dizzy"
    summary = summarise(found.model, found.X, y)
    assert summary.has_unknown_classes
    own = summary.points[summary.delivered]
    assert sum(own.outcome.confusion[-1]) == 7
    assert own.stages[0].next.reached.n_rows == len(y) - 7
    assert any("7 rows of the data have a label" in note for note in to_json(summary)["notes"])


def test_a_model_that_uses_free_features_only():
    found = case("three classes")
    chain = replace(found.staged.chain, stages=found.staged.chain.stages[:1])
    curve = replace(
        found.staged.trade_off.take(np.arange(1)), thresholds=(np.array([np.inf]),), stops=(np.ones(1),)
    )
    model = replace(found.staged, chains=(chain,), trade_off=curve, best=0, point=0)
    summary = summarise(replace(found.model, predictor=StagedPredictor(model)), found.X, found.y)
    assert [point.kind for point in summary.points] == ["delivered", "everything"]
    assert headline(summary).startswith("Your model costs nothing, and reaches an accuracy of")
    (stage,) = summary.points[0].stages
    assert (stage.reached, stage.stops, stage.next, stage.rule) == (1, 1, None, "last")
    assert (
        to_json(summary)["points"][0]["decided"]["words"]["bought"]
        == "The stages buy nothing: they use free sources only."
    )
    json.dumps(to_json(summary), allow_nan=False)
