"""The numbers of a staged summary are those that anyone else would count."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, r2_score

from budgetprune import InvalidInputError, StagedPredictor
from budgetprune.model import BudgetModel
from budgetprune.report import StagedSummary, forest_of, summarise
from budgetprune.staged.prediction.engine import StagedEngine

from .models import case
from .staged_cases import STAGED_CASES


@pytest.fixture(scope="module")
def summaries():
    return {name: summarise(case(name).model, case(name).X, case(name).y) for name in STAGED_CASES}


def predictors(name):
    """One predictor for each point of the curve; a curve this short is shown as a whole."""
    found = case(name)
    for point in range(len(found.staged.trade_off)):
        yield StagedPredictor(found.staged.at(point), max_cost=found.predictor.max_cost)


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


def score(name, answer, rows):
    """Score of some rows; R² with the variance of all."""
    y = case(name).y
    if case(name).staged.classes is not None:
        return np.mean(answer[rows] == y[rows])
    return 1 - np.mean((answer[rows] - y[rows]) ** 2) / y.var()


# --- Points -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STAGED_CASES)
def test_costs_and_scores(summaries, name):
    summary, found = summaries[name], case(name)
    assert isinstance(summary, StagedSummary)
    assert len(summary.points) == len(found.staged.trade_off) + 1
    places = {source.name: i for i, source in enumerate(summary.sources)}
    for point, predictor in zip(summary.points, predictors(name), strict=False):
        simulation, outcome = predictor.simulate(found.X), point.decided
        assert outcome.cost == pytest.approx(simulation.cost.mean(), rel=1e-4)
        assert outcome.largest == pytest.approx(simulation.cost.max(), rel=1e-4)
        assert outcome.undecided == pytest.approx(1 - simulation.decided.mean(), abs=1e-3)
        share = simulation.acquired.mean(axis=0)
        for s, source in enumerate(predictor.costs.source_names):
            if places.get(source, summary.n_listed) < summary.n_listed:
                assert outcome.of_rows[places[source]] == pytest.approx(share[s], rel=1e-2)
        assert sum(outcome.of_money) == pytest.approx(outcome.cost, rel=1e-2, abs=1e-9)
        if found.staged.classes is None:
            assert outcome.score == pytest.approx(r2_score(found.y, simulation.label), abs=1e-4)
            assert outcome.mean_off == pytest.approx(np.abs(simulation.label - found.y).mean(), rel=1e-4)
        else:
            assert outcome.score == pytest.approx(np.mean(simulation.label == found.y), abs=1e-5)
            expected = confusion_matrix(found.y, simulation.label, labels=found.staged.classes)
            np.testing.assert_array_equal(outcome.confusion, expected)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_it_is_compared_with_itself_on_the_same_rows(summaries, name):
    summary, found = summaries[name], case(name)
    everything, costs = summary.points[-1], found.staged.costs
    assert everything.kind == "everything"
    bought = [s for stage in found.staged.chain.stages for s in stage.sources]
    limit = np.inf if summary.max_cost is None else summary.max_cost
    assert everything.decided.cost <= limit
    if costs.price[bought].sum() <= limit:
        assert everything.decided.cost == pytest.approx(costs.price[bought].sum())
        answer = found.predictor.predict(found.X)
        assert everything.decided.score == pytest.approx(score(name, answer, slice(None)), abs=1e-5)
    own = summary.points[summary.delivered].decided
    assert own.gained == pytest.approx(own.score - everything.decided.score, abs=2e-5)
    for number in (own.cost, everything.decided.cost):
        assert f"costs {number:.3g}" in summary.headline.replace(".00", "")


@pytest.mark.parametrize("name", STAGED_CASES)
def test_budgets_lead_to_their_points(summaries, name):
    summary, model = summaries[name], case(name).staged
    for i, point in enumerate(summary.points[:-1]):
        assert point.expected_cost == pytest.approx(model.trade_off.cost[i], rel=1e-4)
        assert point.expected_score == pytest.approx(model.trade_off.score[i], rel=1e-4)
        if point.budget is not None:
            assert model.within(float(point.budget)).point == i
            assert point.decided.words.command == (
                f"budgetprune rebudget MODEL --budget {point.budget} --out OTHER"
            )
    assert summary.delivered == model.point
    assert summary.points[model.point].budget is not None
    assert summary.points[-1].decided.words.command == ""


def test_points_that_no_budget_leads_to(summaries):
    """Error costs may make the last points worse than cheaper ones."""
    found = case("three classes")
    model = replace(found.model, predictor=StagedPredictor(replace(found.staged, best=2)))
    summary = summarise(model, found.X, found.y)
    assert [point.budget is None for point in summary.points[2:]] == [False, True, True, True]
    assert "No budget leads here" in summary.points[3].decided.words.use


# --- Stages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STAGED_CASES)
def test_who_stops_where(summaries, name):
    summary, found = summaries[name], case(name)
    for point, predictor in zip(summary.points, predictors(name), strict=False):
        stage = stages_of(predictor, found.X)
        chain = predictor.model.chain
        assert len(point.stages) > stage.max()
        for k, outcome in enumerate(point.stages):
            answer = predictor.model.answers(outputs_at(name, chain, k))
            is_here = stage == k
            assert outcome.stops == pytest.approx(is_here.mean(), abs=1e-4)
            assert outcome.reached == pytest.approx(np.mean(stage >= k), abs=1e-4)
            assert outcome.score_all == pytest.approx(score(name, answer, slice(None)), abs=1e-4)
            if is_here.any():
                assert outcome.score_stops == pytest.approx(score(name, answer, is_here), abs=1e-4)
            else:
                assert outcome.score_stops is None
            threshold = predictor.model.thresholds[k]
            if outcome.goes_on == "some":
                assert outcome.threshold == pytest.approx(threshold, rel=1e-4)
            paid = summary.chains[point.chain][k].paid
            assert paid == pytest.approx(predictor.model.paid[k])
        assert sum(outcome.stops for outcome in point.stages) == pytest.approx(1, abs=1e-3)
        assert sum(outcome.expected_stops for outcome in point.stages) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", STAGED_CASES)
def test_what_going_on_saves(summaries, name):
    """Row by row, with the loss of the model."""
    summary, found = summaries[name], case(name)
    for point, predictor in zip(summary.points, predictors(name), strict=False):
        model = predictor.model
        stage, paid = stages_of(predictor, found.X), model.paid
        loss = np.column_stack(
            [
                model.objective.loss(outputs_at(name, model.chain, k), truths(name))
                for k in range(len(model.chain))
            ]
        )
        end = loss[np.arange(stage.size), stage]
        assert point.decided.loss == pytest.approx(end.mean(), rel=1e-4)
        for k, outcome in enumerate(point.stages):
            if outcome.next is None:
                continue
            groups = {
                "there": (stage >= k, end, paid[stage] - paid[k]),
                "on": (stage > k, end, paid[stage] - paid[k]),
                "stay": (stage == k, loss[:, k + 1], np.full(stage.size, paid[k + 1] - paid[k])),
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


def test_a_limit_for_each_row(summaries):
    """Rows that would go on stop where the limit is, and are told apart from others."""
    summary = summaries["three classes"]
    own = summary.points[summary.delivered]
    assert own.decided.undecided > 0
    assert "would go on, but a row may cost at most 18.5." in own.decided.words.stages
    assert own.stages[-1].rule == "limit of 18.5 per row"
    assert own.stages[-1].next is None


# --- The whole ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STAGED_CASES)
def test_plain_values_only(summaries, name):
    stored = json.loads(json.dumps(summaries[name].to_json(), allow_nan=False))
    assert (stored["format"], stored["model"]) == (1, "staged")
    assert stored["points"][0]["decided"]["words"]["value"].startswith("Point 1 of")


def test_kinds_of_losses(summaries):
    assert {name: summary.loss_kind for name, summary in summaries.items()} == {
        "three classes": "cost",
        "two classes": "errors",
        "log loss": "log loss",
        "numbers": "squared error",
        "priced numbers": "cost",
    }
    assert "Together with the cost of errors" in summaries["three classes"].headline
    assert "Together" not in summaries["two classes"].headline


def test_other_points_are_measured_on_a_sample():
    found = case("three classes")
    summary = summarise(found.model, found.X, found.y, max_rows=40, seed=1)
    whole = summarise(found.model, found.X, found.y)
    assert (summary.n_rows, summary.n_point_rows) == (240, 40)
    for point, on_all in zip(summary.points, whole.points, strict=True):
        is_sample = point.kind == "point"
        assert point.n_rows == (40 if is_sample else 240)
        if not is_sample:
            assert point == on_all
    assert any("random sample of 40 rows" in note for note in summary.notes)


def test_without_a_description_scores_of_cross_fitting_are_left_out():
    """They may be of any kind."""
    found = case("two classes")
    about = replace(found.model.about, score_name="f1")
    for model in (BudgetModel(found.predictor, None, None), replace(found.model, about=about)):
        summary = summarise(model, found.X, found.y)
        assert all(point.expected_score is None for point in summary.points)
        assert summary.points[0].expected_cost is not None


def test_labels_that_the_model_does_not_know():
    found = case("three classes")
    y = found.y.astype(object)
    y[:7] = "dizzy"
    summary = summarise(found.model, found.X, y)
    assert summary.classes[-1] == "unknown to the model"
    own = summary.points[summary.delivered]
    assert sum(own.decided.confusion[-1]) == 7
    assert own.stages[0].next.there.n_rows == len(y) - 7
    assert any("7 rows of the data have a label" in note for note in summary.notes)


def test_a_model_that_uses_free_features_only():
    found = case("three classes")
    chain = replace(found.staged.chain, stages=found.staged.chain.stages[:1])
    curve = replace(
        found.staged.trade_off.take(np.arange(1)), thresholds=(np.array([np.inf]),), stops=(np.ones(1),)
    )
    model = replace(found.staged, chains=(chain,), trade_off=curve, best=0, point=0)
    summary = summarise(replace(found.model, predictor=StagedPredictor(model)), found.X, found.y)
    assert [point.kind for point in summary.points] == ["delivered", "everything"]
    assert summary.headline.startswith("Your model costs nothing, and reaches an accuracy of")
    (stage,) = summary.points[0].stages
    assert (stage.reached, stage.stops, stage.next, stage.rule) == (1, 1, None, "the last stage")
    assert summary.points[0].decided.words.bought == "The stages buy nothing: they use what is free."
    json.dumps(summary.to_json(), allow_nan=False)


def test_progress_and_refusals():
    found, seen = case("numbers"), []
    summary = summarise(
        found.model, found.X, found.y, progress=lambda done, total: seen.append((done, total))
    )
    n = len(summary.points)
    assert seen == [(k, n) for k in range(1, n + 1)]
    with pytest.raises(InvalidInputError, match="240 rows, but 3 targets"):
        summarise(found.model, found.X, found.y[:3])
    with pytest.raises(InvalidInputError, match="the same in all rows"):
        summarise(found.model, found.X, np.ones(len(found.y)))


def test_rows_need_the_columns_of_all_chains():
    forest = forest_of(case("three classes").model)
    tested = {forest.feature_names[k] for k in np.unique(forest.feature[forest.is_split])}
    assert tested == {"age", "TSH", "T3", "Größe", "town"}
