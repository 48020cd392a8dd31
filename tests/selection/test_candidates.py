"""Settings that the options leave open."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from budgetprune import Forest
from budgetprune.selection.candidates import DEFAULT_RIDGE, SLACKS, Candidates, Measure, RefitSpec

from .test_scored_model import options


@pytest.fixture(scope="module")
def forests():
    X, y = load_iris(return_X_y=True)
    models = (RandomForestClassifier(3, random_state=0), GradientBoostingClassifier(n_estimators=2))
    return [Forest.from_model(model.fit(X, y)) for model in models]


def test_given_settings_leave_nothing_to_choose(forests):
    given = options(error="held-out", loss="brier", refit="softmax", ridge=2.0)
    candidates = Candidates.of(forests[0], 150, given)
    assert candidates.measures == (Measure("held-out", "brier"),)
    assert candidates.refits == ((RefitSpec("softmax", 2.0, 0.0),),)
    assert (candidates.slacks, candidates.n_trials) == ((), 1)


def test_open_settings_have_several_candidates(forests):
    candidates = Candidates.of(forests[0], 150, options(refit="auto", slack="auto"))
    assert [each.error for each in candidates.measures] == ["in-bag", "pooled"]
    assert candidates.slacks == SLACKS
    assert [refits[0].kind for refits in candidates.refits] == [None, "squared", "softmax"]
    for refits in candidates.refits[1:]:  # each refit starts from one with a stronger ridge
        ridges = [each.ridge for each in refits]
        assert ridges == sorted(ridges, reverse=True)


def test_without_training_rows_errors_are_measured_on_validation_rows(forests):
    candidates = Candidates.of(forests[0], None, options())
    assert "pooled" not in [each.error for each in candidates.measures]


def test_boosted_ensembles_have_their_own_loss_and_refit(forests):
    candidates = Candidates.of(forests[1], 150, options(refit="auto"))
    assert {each.loss for each in candidates.measures} == {None}
    assert [refits[0].kind for refits in candidates.refits] == [None, "own"]


def test_defaults_need_no_comparison(forests):
    candidates = Candidates.of(forests[0], 150, options(refit="softmax", slack="auto")).defaults()
    assert len(candidates.measures) == candidates.n_refits == 1
    assert candidates.refits[0][0].ridge == DEFAULT_RIDGE
    assert candidates.slacks == ()
