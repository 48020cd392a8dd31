"""The numbers of a summary are those that anyone else would count."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, r2_score

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.model import BudgetModel
from budgetprune.problem.acquisition import sources_used
from budgetprune.report import summarise
from budgetprune.report.numbers import amount
from budgetprune.report.outcomes import bars, neighbour
from budgetprune.report.render import render
from budgetprune.report.usage import count_pairs, usage_shares

from .models import case, wine

NAMES = ("cancer", "wine", "diabetes", "boosted")


@pytest.fixture(scope="module")
def summaries():
    return {name: summarise(case(name).model, case(name).X, case(name).y) for name in NAMES}


def models(name, summary):
    """Points of a summary with their predictors, made anew."""
    found = case(name)
    path, own = found.model.path, found.predictor
    for point in summary.points:
        if point.kind == "delivered":
            yield point, own
        else:
            forest = path.forest if point.kind == "unpruned" else path.at(lam=point.lam).forest
            yield point, BudgetPredictor(forest, own.costs)


@pytest.mark.parametrize("name", NAMES)
def test_costs_and_scores(summaries, name):
    summary, X, y = summaries[name], case(name).X, case(name).y
    for point, predictor in models(name, summary):
        acquired = sources_used(predictor.forest, predictor.costs, X)
        simulation = predictor.simulate(X)
        for outcome, mask, answer in (
            (point.full, acquired, predictor.predict(X)),
            (point.decided, simulation.acquired, simulation.label),
        ):
            cost = predictor.costs.total(mask)
            assert outcome.cost == pytest.approx(cost.mean(), rel=1e-4)
            assert outcome.largest == pytest.approx(cost.max(), rel=1e-4)
            assert np.mean(cost <= outcome.median * (1 + 1e-4)) >= 0.5
            assert outcome.n_bought == pytest.approx(mask.sum(axis=1).mean(), rel=1e-4)
            assert sum(outcome.of_money) == pytest.approx(outcome.cost, rel=1e-2, abs=1e-9)
            assert sum(outcome.bars.share) == pytest.approx(1, abs=1e-3)
            if summary.task == "classification":
                assert outcome.score == pytest.approx(np.mean(answer == y), abs=1e-5)
                assert outcome.n_wrong == np.sum(answer != y)
                labels = predictor.forest.classes
                expected = confusion_matrix(y, answer, labels=labels)
                np.testing.assert_array_equal(outcome.confusion, expected)
            else:
                assert outcome.score == pytest.approx(r2_score(y, answer), abs=1e-4)
                assert outcome.mean_off == pytest.approx(np.abs(answer - y).mean(), rel=1e-4)
                assert sum(outcome.residuals) == len(y)
        assert (point.n_splits, point.lam is None) == (predictor.forest.n_splits, point.kind == "unpruned")


@pytest.mark.parametrize("name", NAMES)
def test_shares_of_sources(summaries, name):
    summary, X = summaries[name], case(name).X
    number = {source: s for s, source in enumerate(case(name).predictor.source_names)}
    assert {source.name for source in summary.sources} == {
        source for source, s in number.items() if case(name).predictor.costs.price[s] > 0
    }
    for point, predictor in models(name, summary):
        share = predictor.simulate(X).acquired.mean(axis=0)
        listed = [number[source.name] for source in summary.sources[: summary.n_listed]]
        np.testing.assert_allclose(point.decided.of_rows, share[listed], rtol=1e-2)


@pytest.mark.parametrize("name", NAMES)
def test_order_of_points(summaries, name):
    summary = summaries[name]
    kinds = [point.kind for point in summary.points]
    assert kinds.index("delivered") == summary.delivered
    assert kinds.count("delivered") == 1
    assert kinds[-1] == "unpruned"
    path = [point for point in summary.points if point.kind == "path"]
    assert len(path) == len(kinds) - 2 == min(len(case(name).model.path), 200)
    assert all(a.full.cost <= b.full.cost and a.lam > b.lam for a, b in pairwise(path))
    cost = [getattr(point, summary.counting).cost for point in summary.points[:-1]]
    own = summary.delivered
    assert all(each <= cost[own] for each in cost[:own])
    assert own + 1 == len(cost) or cost[own + 1] > cost[own]


@pytest.mark.parametrize("name", NAMES)
def test_compared_with_the_whole(summaries, name):
    summary = summaries[name]
    whole = summary.points[-1].full
    assert whole.gained == whole.gained_error == 0
    for point in summary.points:
        assert point.full.gained == pytest.approx(point.full.score - whole.score, abs=1e-4)


def test_plain_values_only(summaries):
    for summary in summaries.values():
        stored = json.loads(json.dumps(summary.to_json(), allow_nan=False))
        assert stored["format"] == 1
        assert len(stored["points"]) == len(summary.points)
        assert stored["points"][0]["full"]["words"]["value"] == summary.points[0].full.words.value


def test_many_points_are_thinned_out(monkeypatch):
    found = case("cancer")
    monkeypatch.setattr("budgetprune.report.survey.MOST_POINTS", 6)
    summary = summarise(found.model, found.X, found.y, n_stories=0)
    path = [point for point in summary.points if point.kind == "path"]
    assert 3 <= len(path) <= 6
    assert summary.n_path_points == len(found.model.path) > 6
    assert {path[0].lam, path[-1].lam} == {found.model.path.lam[0], found.model.path.lam[-1]}
    assert found.model.about.lam in {point.lam for point in path}


def test_many_rows_are_sampled():
    found = case("cancer")
    summary = summarise(found.model, found.X, found.y, n_stories=2, max_rows=60)
    whole = summarise(found.model, found.X, found.y, n_stories=2)
    counted = {point.kind: np.sum(point.full.confusion) for point in summary.points}
    assert counted == {"path": 60, "delivered": len(found.y), "unpruned": len(found.y)}
    assert (summary.n_rows, summary.n_path_rows) == (len(found.y), 60)
    assert any("random sample of 60 rows" in note for note in summary.notes)
    assert not any("sample of" in note and "random" in note for note in whole.notes)
    own = summary.delivered
    assert summary.points[own].full.cost == whole.points[whole.delivered].full.cost
    again = summarise(found.model, found.X, found.y, n_stories=2, max_rows=60)
    assert again == summary
    assert summarise(found.model, found.X, found.y, n_stories=2, max_rows=60, seed=1) != summary


def test_progress_is_told():
    found, told = case("wine"), []
    summarise(found.model, found.X, found.y, n_stories=0, progress=lambda *done: told.append(done))
    n_models = len(found.model.path) + 2
    assert told == [(n, n_models) for n in range(1, n_models + 1)]


def test_settings_hold_for_all_points():
    """What the delivered model may spend on a row, the others may as well."""
    found = case("cancer")
    predictor = BudgetPredictor(found.predictor.forest, found.predictor.costs, slack=0.2, max_cost=5.0)
    summary = summarise(BudgetModel(predictor, found.model.path, found.model.about), found.X, found.y)
    assert max(point.decided.largest for point in summary.points) == 5
    assert summary.points[-1].decided.undecided > 0
    assert summary.points[-1].full.undecided == 0
    assert {"slack 0.2", "more than 5"} <= {
        w for w in ("slack 0.2", "more than 5") if w in str(summary.notes)
    }


# --- Labels -------------------------------------------------------------------------------------------------


def test_labels_that_are_text():
    found = case("boosted")
    as_text = summarise(found.model, found.X, list(map(str, found.y)), n_stories=0)
    assert as_text.points == summarise(found.model, found.X, found.y, n_stories=0).points


def test_labels_that_nobody_knows_are_wrong():
    found = case("wine")
    y = found.y.astype(object)
    y[:3] = "Nero d'Avola"
    summary = summarise(found.model, found.X, y, n_stories=0)
    usual = summarise(found.model, found.X, found.y, n_stories=0)
    assert summary.classes == (*usual.classes, "unknown to the model")
    own = summary.points[summary.delivered].full
    n_right = np.trace(own.confusion)
    assert own.n_wrong == len(y) - n_right
    assert sum(own.confusion[-1]) == 3
    assert own.score == pytest.approx(n_right / len(y), abs=1e-5)


def test_rare_labels_are_together(monkeypatch):
    monkeypatch.setattr("budgetprune.report.judge.MOST_CLASSES", 2)
    found = case("wine")
    summary = summarise(found.model, found.X, found.y, n_stories=0)
    labels, count = np.unique(found.y, return_counts=True)
    assert summary.classes == (labels[count.argmax()], "other labels")
    assert np.sum(summary.points[0].full.confusion) == len(found.y)
    assert np.sum(summary.points[0].full.confusion, axis=1)[0] == count.max()


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("wine", lambda y: y[1:], "45 rows, but 44 targets"),
        ("wine", lambda y: np.where(y == y[0], None, y), "of 1. row.s. is missing"),
        ("wine", lambda y: np.full(len(y), "Merlot"), "never one of the labels.*'Barbera'.*'Merlot'"),
        ("diabetes", lambda y: 0 * y, "the same in all rows"),
        ("diabetes", lambda y: y.astype(str) + "x", "must be a number"),
        ("diabetes", lambda y: np.where(y == y[0], np.inf, y), "infinite"),
    ],
)
def test_targets_that_cannot_judge(name, change, words):
    found = case(name)
    with pytest.raises(InvalidInputError, match=words):
        summarise(found.model, found.X, change(found.y))


def test_a_model_without_its_path():
    found = case("wine")
    with pytest.raises(InvalidInputError, match=r"no path with it.*budgetprune fit"):
        summarise(replace(found.model, path=None), found.X, found.y)


@pytest.mark.parametrize("wrong", [{"n_stories": -1}, {"max_rows": 0}])
def test_wishes_that_make_no_sense(wrong):
    found = case("wine")
    with pytest.raises(InvalidInputError, match="must be at least"):
        summarise(found.model, found.X, found.y, **wrong)


# --- Parts --------------------------------------------------------------------------------------------------


def test_usage_is_counted_on_every_way():
    forest, X = case("cancer").predictor.forest, case("cancer").X
    rows = forest.prepare_rows(X)
    is_counted = np.arange(forest.n_features) % 3 > 0
    expected = np.zeros(3)
    for leaves in forest.apply(rows):
        uses = np.zeros(forest.n_features)
        for h in leaves:
            while (h := forest.parent[h]) >= 0:
                uses[forest.feature[h]] += 1
        for k in np.flatnonzero(is_counted):
            expected[int(uses[k] > 0) + int(uses[k] > 7)] += 1
    np.testing.assert_allclose(usage_shares(forest, rows, is_counted), expected / expected.sum())


@pytest.mark.nojit
def test_usage_of_a_small_forest():
    """Two trees: one tests feature 0 twice on the way to its deepest leaves, the other is a leaf."""
    parent = np.array([-1, 0, 1, 1, 0, -1], dtype=np.int32)
    feature = np.array([0, 0, -1, -1, -1, -1], dtype=np.int32)
    leaf = np.array([[2, 5], [4, 5]], dtype=np.int32)
    is_counted = np.array([True, True, False])
    np.testing.assert_array_equal(count_pairs(leaf, parent, feature, is_counted), [[1, 1, 0], [1, 1, 0]])
    many = np.repeat(leaf[:, :1], 5, axis=1)  # five times the first tree: 10 tests, and 5
    np.testing.assert_array_equal(count_pairs(many, parent, feature, is_counted), [[1, 0, 1], [1, 1, 0]])


def test_bars_of_few_costs_and_of_many():
    few = bars(np.array([0.0, 2.0, 2.0, 5.0]))
    assert (few.left[0], few.width) == (-0.5, 1)
    assert few.share == (0.25, 0, 0.5, 0, 0, 0.25)
    many = bars(np.random.default_rng(0).uniform(0, 7, 1000))
    assert (many.left[0], many.width) == (0, 0.5)
    assert sum(many.share) == pytest.approx(1, abs=1e-3)
    assert bars(np.zeros(3)).share == (1,)
    assert bars(np.array([4e-4, 8e-4, 9e-4])).width == 5e-5
    assert bars(np.array([2.5, 7.5])).width == 2.5
    assert bars(np.array([2e50, 7e50])).width == pytest.approx(5e49)
    assert sum(bars(np.array([1e-50, 1e50])).share) == 1
    assert (few.is_open, many.is_open) == (False, False)


def test_bars_of_a_few_rows_that_are_far_away():
    far = bars(np.array([1.0] * 60 + [2.0] * 39 + [300.0]))
    assert far.is_open
    assert far.left == (-0.5, 0.5, 1.5, 2.5)
    assert far.share == (0, 0.6, 0.39, 0.01)
    smooth = bars(np.append(np.random.default_rng(0).uniform(0, 1, 999), 50.0))
    assert smooth.is_open
    assert smooth.share[-1] == pytest.approx(0.02, abs=0.02)
    assert smooth.left[-1] <= 1.0
    assert sum(smooth.share) == pytest.approx(1, abs=1e-3)


COST = np.array([10.0, 9.0, 8.5, 8.5, 4.0, 0.0])  # from dear to cheap


@pytest.mark.parametrize(
    ("anchor", "factor", "expected"),
    [
        (3, 1.1, (1, True)),  # the dearest within 9.35
        (4, 1.1, (3, False)),  # nothing within 4.4: the next one
        (0, 1.1, (None, False)),
        (None, 1.1, (None, False)),
        (None, 0.9, (1, True)),  # at most 9 of the 10 that the unpruned one costs
        (2, 0.9, (4, True)),
        (5, 0.9, (None, False)),
        (5, 1.1, (4, False)),
    ],
)
def test_neighbours(anchor, factor, expected):
    base = 10.0 if anchor is None else COST[anchor]
    assert neighbour(COST, anchor, base, factor) == expected


def changes(summary):
    for point in summary.points:
        for counting in ("full", "decided"):
            shown = getattr(point, counting)
            for name in ("more", "less"):
                change = getattr(shown, name)
                if change.point is not None:
                    there = getattr(summary.points[change.point], counting)
                    yield point, counting, name, shown, change, there


@pytest.mark.parametrize("name", NAMES)
def test_changes_fit_the_numbers_beside_them(summaries, name):
    """A reader has the cost and the score of the point that is shown, and then those of the other."""
    summary = summaries[name]
    own, path = summary.points[summary.delivered], case(name).model.path
    is_refitted = not np.array_equal(case(name).predictor.forest.value, path.at(lam=own.lam).forest.value)
    for point, _, direction, shown, change, there in changes(summary):
        words = getattr(shown.words, direction)
        assert there.cost == change.cost
        assert (there.cost > shown.cost) == (direction == "more")
        if change.is_within:
            assert there.cost <= change.budget * (1 + 1e-4)
        if shown.cost:
            told = float(re.search(r"(\d+) % (more|less)|under 1 %", words)[1] or 0)
            assert told == pytest.approx(100 * abs(there.cost / shown.cost - 1), abs=0.51)
        if "leaves" in words:
            assert point is own
            assert is_refitted
        if "as good" in words.partition(". With leaves")[0]:
            assert there.score == shown.score
        else:
            told = re.search(r"is (?:a trace|([\d.]+) (?:points?|of R²)) (?:better|worse)", words)[1]
            unit, room = (100, 0.051) if summary.task == "classification" else (1, 6e-4)
            assert float(told or 0) == pytest.approx(unit * abs(there.score - shown.score), abs=room)


def test_what_validation_rows_expected_of_that_point(summaries):
    summary = summaries["cancer"]
    n_told = 0
    for _, counting, direction, shown, change, there in changes(summary):
        costs = summary.expected.full_cost if counting == "full" else summary.expected.cost
        now, then = np.interp([shown.cost, there.cost], costs[::-1], summary.expected.score[::-1])
        assert change.expected == pytest.approx(then - now, rel=1e-2, abs=2e-4)
        n_told += "Validation rows expected" in getattr(shown.words, direction)
    assert n_told
    assert summary.points[0].full.less.point is summary.points[0].full.less.expected is None


def test_ten_per_cent_more(summaries):
    """What is told is the difference of two points with leaves as grown."""
    summary = summaries["cancer"]
    for position, point in enumerate(summary.points):
        for counting in ("full", "decided"):
            more = getattr(point, counting).more
            if more.point is None or point.kind != "path":
                continue
            there, here = getattr(summary.points[more.point], counting), getattr(point, counting)
            assert more.point > position
            assert there.cost == more.cost > here.cost
            assert more.is_within == (there.cost <= 1.1 * here.cost * (1 + 1e-4))
            assert more.gained == pytest.approx(there.score - here.score, abs=2e-5)


@pytest.mark.parametrize("unit", [2.0**-160, 2.0**160])
def test_prices_of_any_unit(unit, summaries):
    """The report is the same as for prices around 1, but for the unit."""
    scaled = wine(unit)
    summary, usual = summarise(scaled.model, scaled.X, scaled.y), summaries["wine"]
    assert f"{amount(summary.points[0].full.cost)}" in render(summary)
    assert len(summary.points) == len(usual.points)
    for ours, theirs in zip(summary.points, usual.points, strict=True):
        assert ours.full.score == theirs.full.score
        assert ours.decided.cost / unit == pytest.approx(theirs.decided.cost, rel=1e-4)
        assert ours.full.largest / unit == pytest.approx(theirs.full.largest, rel=1e-4)
