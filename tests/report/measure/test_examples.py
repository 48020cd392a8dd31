"""Example rows are predicted as the predictor decides them, step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from budgetprune import BudgetPredictor
from budgetprune.report import summarise

from ..models import case, predictor_of, summary_of

NAMES = ("cancer", "biopsy", "wine", "diabetes", "boosted", "categories")


@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_decisions(name):
    summary, X = summary_of(name), case(name).X
    for point in summary.points[::3]:
        predictor = predictor_of(name, point)
        for example, prediction in zip(summary.examples, point.predictions, strict=True):
            row = X.iloc[example.row - 1]
            decision = predictor.decide(row.to_dict())
            assert prediction.cost == pytest.approx(decision.cost)
            assert tuple(summary.sources[s].name for s in prediction.sources) == decision.acquired
            assert prediction.n_acquired == len(decision.acquired)
            assert prediction.reason == decision.reason
            if summary.task == "classification":
                assert prediction.answer == str(decision.label)
                assert prediction.is_right == (prediction.answer == example.truth)
            simulation = predictor.simulate(X.iloc[[example.row - 1]])
            assert prediction.cost == pytest.approx(simulation.cost[0])


@pytest.mark.parametrize("name", NAMES)
def test_bounds_shrink(name):
    for point in summary_of(name).points:
        for prediction in point.predictions:
            lower, upper, guess = map(np.array, (prediction.lower, prediction.upper, prediction.guess))
            assert lower.size == len(prediction.sources) + 1
            scale = 1e-4 * np.abs(upper).max()
            assert np.all(np.diff(lower) >= -scale)
            assert np.all(np.diff(upper) <= scale)
            assert np.all((lower - scale <= guess) & (guess <= upper + scale))
            if prediction.reason == "certain" and prediction.cut is not None:
                assert lower[-1] >= prediction.cut - scale
                assert lower.size == 1 or lower[-2] < prediction.cut


@pytest.mark.parametrize("name", ["cancer", "wine", "categories"])
def test_kinds_of_examples(name):
    summary = summary_of(name)
    own = summary.points[summary.delivered]
    shown = dict(zip([example.kind for example in summary.examples], own.predictions, strict=True))
    whole = dict(zip(shown, summary.points[-1].predictions, strict=True))
    is_true = {
        "typical": lambda: shown["typical"].is_right,
        "cheap": lambda: shown["cheap"].cost < own.decided.median,
        "expensive": lambda: shown["expensive"].cost > own.decided.median,
        "lost": lambda: whole["lost"].is_right and not shown["lost"].is_right,
        "wrong": lambda: not shown["wrong"].is_right,
    }
    assert "typical" in shown
    assert ("expensive" in shown) or own.decided.largest == own.decided.median or own.decided.n_wrong
    for kind in shown:
        assert is_true[kind](), kind
    assert len({example.row for example in summary.examples}) == len(summary.examples)


def test_labels_that_round_to_the_same_text():
    """Rounded labels do not decide whether an answer is right."""
    found = case("boosted")
    near = np.array([1.00001, 1.00002, 3.0])
    forests = [found.model.path.forest, found.predictor.forest]
    whole, pruned = (replace(forest, classes=near) for forest in forests)
    path = replace(found.model.path, forest=whole)
    path = replace(path, unpruned=replace(path.unpruned, unpruned=whole))
    model = replace(found.model, predictor=BudgetPredictor(pruned, found.predictor.costs), path=path)
    summary, usual = summarise(model, found.X, near[found.y]), summarise(found.model, found.X, found.y)
    assert [each.is_right for each in summary.points[0].predictions] == [
        each.is_right for each in usual.points[0].predictions
    ]


def test_number_of_examples():
    found = case("wine")
    summary = summarise(found.model, found.X, found.y, n_examples=0)
    assert summary.examples == ()
    assert all(point.predictions == () for point in summary.points)
    one = summarise(found.model, found.X, found.y, n_examples=1)
    assert [example.kind for example in one.examples] == ["typical"]


def test_only_acquired_values():
    """For privacy, a page holds no other values of a row than its example needs."""
    found = case("diabetes")
    summary = summarise(found.model, found.X, found.y)
    for i, example in enumerate(summary.examples):
        steps = (step for point in summary.points for step in point.predictions[i].known)
        assert set(example.values) == {k for step in steps for k in step.features}


@pytest.mark.parametrize("name", NAMES)
def test_values_are_shown_once_all_their_sources_are_acquired(name):
    """A shared source, such as a blood draw, does not reveal tests that have a price of their own."""
    summary, found = summary_of(name), case(name)
    costs, names = found.predictor.costs, found.model.path.forest.names
    price = dict(zip(costs.source_names, costs.price, strict=True))
    needs = [set(np.array(costs.source_names)[list(each)]) for each in sources_by_feature(costs)]
    n_shared = 0
    for point in summary.points:
        for example, prediction in zip(summary.examples, point.predictions, strict=True):
            assert len(prediction.known) == len(prediction.sources) + 1
            paid = {source for source in price if price[source] == 0}
            bought = [summary.sources[s].name for s in prediction.sources]
            shown: set[int] = set()
            for source, step in zip([None, *bought], prediction.known, strict=True):
                before = set(paid)
                paid |= {source} - {None}
                for k in step.features:
                    assert needs[k] <= paid
                    assert not needs[k] <= before or source is None
                    assert example.values[k].name == names[k]
                n_shared += source == "biopsy"
                assert not shown & set(step.features)
                shown |= set(step.features)
    assert n_shared or name != "biopsy"


def sources_by_feature(costs):
    return np.split(costs.needs, costs.needs_start[1:-1])


def test_many_steps_are_cut_short(monkeypatch):
    monkeypatch.setattr("budgetprune.report.measure.examples.MOST_STEPS", 2)
    found = case("diabetes")
    summary = summarise(found.model, found.X, found.y)
    prediction = summary.points[-1].predictions[0]
    assert len(prediction.sources) == 2 < prediction.n_acquired
    assert len(prediction.lower) == 3


def test_a_threshold_moves_the_cut():
    found = case("cancer")
    classes = found.predictor.forest.classes
    predictor = BudgetPredictor(found.predictor.forest, found.predictor.costs, threshold=0.8)
    summary = summarise(replace(found.model, predictor=predictor), found.X, found.y)
    cuts = {prediction.answer: prediction.cut for point in summary.points for prediction in point.predictions}
    assert cuts == pytest.approx({classes[0]: 0.2, classes[1]: 0.8})


def test_values_of_examples():
    summary, found = summary_of("categories"), case("categories")
    names = found.model.path.forest.names
    for example in summary.examples:
        row = found.X.iloc[example.row - 1]
        colour = example.values.get(names.index("colour"))
        assert colour is None or (colour.name, colour.value) == ("colour", row["colour"])
        assert example.truth == found.y[example.row - 1]


def test_an_unknown_label_is_shown_as_given():
    found = case("wine")
    y = found.y.astype(object)
    y[:] = "Nero d'Avola"
    y[0] = found.y[0]
    summary = summarise(found.model, found.X, y)
    unknown = [i for i, example in enumerate(summary.examples) if example.row > 1]
    assert unknown
    for i in unknown:
        assert summary.examples[i].truth == "Nero d'Avola"
        assert not any(point.predictions[i].is_right for point in summary.points)
