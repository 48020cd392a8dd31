"""Numbers of the summary of a pruned model, compared with direct counts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, r2_score

from budgetprune import BudgetPredictor
from budgetprune.model import BudgetModel
from budgetprune.problem.acquisition import sources_used
from budgetprune.report import summarise, to_json

from ..models import PRUNED_NAMES as NAMES
from ..models import case, models_of, summary_of


@pytest.mark.parametrize("name", NAMES)
def test_costs_and_scores(name):
    summary, X, y = summary_of(name), case(name).X, case(name).y
    for point, predictor in models_of(name, summary):
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
            assert outcome.n_acquired == pytest.approx(mask.sum(axis=1).mean(), rel=1e-4)
            assert sum(line.cost for line in outcome.lines) + outcome.others.cost == pytest.approx(
                outcome.cost, rel=1e-2, abs=1e-9
            )
            assert sum(outcome.costs.share) == pytest.approx(1, abs=1e-3)
            if summary.task == "classification":
                assert outcome.score == pytest.approx(np.mean(answer == y), abs=1e-5)
                assert outcome.n_wrong == np.sum(answer != y)
                labels = predictor.forest.classes
                expected = confusion_matrix(y, answer, labels=labels)
                np.testing.assert_array_equal(outcome.confusion, expected)
            else:
                assert outcome.score == pytest.approx(r2_score(y, answer), abs=1e-4)
                assert outcome.mean_error == pytest.approx(np.abs(answer - y).mean(), rel=1e-4)
                assert sum(outcome.residuals) == len(y)
        assert (point.n_splits, point.lam is None) == (predictor.forest.n_splits, point.kind == "unpruned")


@pytest.mark.parametrize("name", NAMES)
def test_shares_of_sources(name):
    summary, X = summary_of(name), case(name).X
    number = {source: s for s, source in enumerate(case(name).predictor.source_names)}
    assert {source.name for source in summary.sources} == {
        source for source, s in number.items() if case(name).predictor.costs.price[s] > 0
    }
    for point, predictor in models_of(name, summary):
        share = predictor.simulate(X).acquired.mean(axis=0)
        for line in point.decided.lines:
            s = number[summary.sources[line.source].name]
            assert line.share == pytest.approx(share[s])
            assert line.cost == pytest.approx(share[s] * predictor.costs.price[s])


@pytest.mark.parametrize("name", NAMES)
def test_order_of_points(name):
    summary = summary_of(name)
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
def test_comparison_with_the_unpruned_ensemble(name):
    summary = summary_of(name)
    whole = summary.points[-1].full
    assert whole.gained == whole.gained_error == 0
    for point in summary.points:
        assert point.full.gained == pytest.approx(point.full.score - whole.score, abs=1e-4)


def test_large_paths_are_thinned(monkeypatch):
    found = case("cancer")
    monkeypatch.setattr("budgetprune.report.measure.pruned.MOST_POINTS", 6)
    summary = summarise(found.model, found.X, found.y, n_examples=0)
    path = [point for point in summary.points if point.kind == "path"]
    assert 3 <= len(path) <= 6
    assert summary.n_path_points == len(found.model.path) > 6
    assert {path[0].lam, path[-1].lam} == {found.model.path.lam[0], found.model.path.lam[-1]}
    assert found.model.about.lam in {point.lam for point in path}


def test_many_rows_are_sampled():
    found = case("cancer")
    summary = summarise(found.model, found.X, found.y, n_examples=2, max_rows=60)
    whole = summarise(found.model, found.X, found.y, n_examples=2)
    counted = {point.kind: np.sum(point.full.confusion) for point in summary.points}
    assert counted == {"path": 60, "delivered": len(found.y), "unpruned": len(found.y)}
    assert (summary.n_rows, summary.n_sample_rows) == (len(found.y), 60)
    assert any("random sample of 60 rows" in note for note in to_json(summary)["notes"])
    assert not any("sample of" in note and "random" in note for note in to_json(whole)["notes"])
    own = summary.delivered
    assert summary.points[own].full.cost == whole.points[whole.delivered].full.cost
    again = summarise(found.model, found.X, found.y, n_examples=2, max_rows=60)
    assert again == summary
    assert summarise(found.model, found.X, found.y, n_examples=2, max_rows=60, seed=1) != summary


def test_settings_hold_for_all_points():
    """What the delivered model may spend on a row, the others may as well."""
    found = case("cancer")
    predictor = BudgetPredictor(found.predictor.forest, found.predictor.costs, slack=0.2, max_cost=5.0)
    summary = summarise(BudgetModel(predictor, found.model.path, found.model.about), found.X, found.y)
    assert max(point.decided.largest for point in summary.points) == 5
    assert summary.points[-1].decided.undecided > 0
    assert summary.points[-1].full.undecided == 0
    assert {"slack 0.2", "limited to 5"} <= {
        w for w in ("slack 0.2", "limited to 5") if w in str(to_json(summary)["notes"])
    }
