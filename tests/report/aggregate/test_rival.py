"""Comparison with another model, compared with direct counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from budgetprune import InvalidInputError, StagedPredictor
from budgetprune.report import OtherModel, ReportOptions, headline, summarise, to_json
from budgetprune.report.aggregate import summarise_rival
from budgetprune.report.measure import measure_pruned
from budgetprune.workflow import rebudget_model

from ..models import case


def compared(name, model, X=None):
    """The report of a case, compared with another model on the same rows."""
    found = case(name)
    other = OtherModel(model, found.X if X is None else X, "other.budgetprune")
    return summarise(found.model, found.X, found.y, other=other, n_examples=0, unit="EUR")


@pytest.mark.parametrize("name", ["cancer", "diabetes"])
def test_two_pruned_models(name):
    found = case(name)
    other = rebudget_model(found.model, found.model.about.budget * 1.5)
    rival = compared(name, other).rival
    assert rival.kind == "pruned"
    own, theirs = found.predictor.predict(found.X), other.predictor.predict(found.X)
    outcome, spread = rival.full.outcome, np.var(found.y) if name == "diabetes" else 1
    errors = [(each - found.y) ** 2 if name == "diabetes" else each != found.y for each in (own, theirs)]
    gained = (errors[0].astype(float) - errors[1].astype(float)) / spread
    assert outcome.gained == pytest.approx(gained.mean())
    assert outcome.gained_error == pytest.approx(gained.std() / np.sqrt(len(gained)))
    cost = [each.simulate(found.X).cost.mean() for each in (found.predictor, other.predictor)]
    assert (rival.decided.outcome.reference.cost, rival.decided.outcome.cost) == pytest.approx(tuple(cost))
    if name == "cancer":
        counts = (np.sum(errors[1] & ~errors[0]), np.sum(errors[0] & ~errors[1]))
        assert (rival.full.n_only_own, rival.full.n_only_other) == counts
    else:
        assert rival.full.n_only_own is None


@pytest.mark.parametrize("name", ["cancer", "two classes"])
def test_a_model_is_equal_to_itself(name):
    found = case(name)
    summary = compared(name, found.model)
    rival, own = summary.rival.decided, summary.points[summary.delivered]
    own = own.decided if summary.rival.kind == "pruned" else own.outcome
    assert (rival.outcome.gained, rival.outcome.gained_error) == (0, 0)
    assert rival.outcome.cost == own.cost == rival.outcome.reference.cost
    for line in rival.outcome.lines:
        assert (line.share, line.cost) == (line.reference_share, line.reference_cost)
    words = to_json(summary)["rival"]["decided"]["words"]["verdict"]
    assert "That is as good as your model on these rows. Both are right on the same rows." in words
    assert ", as much as your model," in words
    points = [p.decided if summary.rival.kind == "pruned" else p.outcome for p in summary.points]
    assert set(rival.score) <= {each.score for each in points}
    assert list(rival.cost) == sorted(rival.cost)


def test_sources_of_the_same_name():
    """Shares are compared by name, though the models list their sources in different order."""
    found = case("wine")
    other = rebudget_model(found.model, 15.2)
    summary = compared("wine", other)
    share = found.predictor.simulate(found.X).acquired.mean(axis=0)
    by_name = dict(zip(found.predictor.source_names, share, strict=True))
    for line in summary.rival.decided.outcome.lines:
        assert line.reference_share == pytest.approx(by_name[summary.rival.sources[line.source].name])


def test_a_staged_and_a_pruned_model():
    """The staged one has no full cost; errors have the prices of the first model."""
    staged = case("three classes")
    cheap = replace(staged.model, predictor=StagedPredictor(staged.staged.at(1)))
    summary = compared("three classes", cheap)
    assert (summary.rival.kind, summary.rival.full) == ("staged", None)
    expected = summary.points[1].outcome
    found = summarise(staged.model, staged.X, staged.y, n_examples=0, max_rows=10**6).points[1].outcome
    assert summary.rival.decided.outcome.error_cost == pytest.approx(found.error_cost)
    assert expected.cost == pytest.approx(summary.rival.decided.outcome.cost, rel=0.2)
    assert len(to_json(summary)["rival"]["decided"]["facts"]) == len(to_json(summary)["fact_names"])


def test_models_that_cannot_be_compared():
    measured = {
        name: measure_pruned(case(name).model, case(name).X, case(name).y, ReportOptions(n_examples=0))
        for name in ("wine", "diabetes", "cancer")
    }
    with pytest.raises(InvalidInputError, match=r"other cannot be compared: one model predicts classes"):
        summarise_rival(measured["wine"], measured["diabetes"], "other")
    with pytest.raises(InvalidInputError, match=r"the two models predict different labels"):
        summarise_rival(measured["wine"], measured["cancer"], "other")
    with pytest.raises(InvalidInputError, match="rows, but"):
        compared("wine", case("wine").model, case("wine").X.iloc[:3])


def test_the_headline_is_about_one_model():
    found = case("wine")
    assert headline(compared("wine", found.model)) == headline(
        compared("wine", rebudget_model(found.model, 12.0))
    )
