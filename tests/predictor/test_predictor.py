"""Settings that make sense, and errors for those that do not; names of sources; predictors as a whole."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from budgetprune import AcquisitionError, BudgetPredictor, FeatureCosts, InvalidInputError

from ..persistence.model_files import save_model
from .conftest import NAMES, ROW
from .forests import random_forest, stumps

CLASSIFIER = random_forest(np.random.default_rng(0), "averaged", 2, 3, has_categories=False)
THREE = random_forest(np.random.default_rng(0), "averaged, three classes", 2, 3, has_categories=False)


@pytest.mark.parametrize(
    ("forest", "settings", "message"),
    [
        (CLASSIFIER, {"slack": -0.1}, "slack must be at least 0 and below 0.5, not -0.1"),
        (CLASSIFIER, {"slack": 0.5}, "slack"),
        (CLASSIFIER, {"slack": np.nan}, "slack"),
        (CLASSIFIER, {"slack": "auto"}, "slack must be a number, not 'auto'"),
        (CLASSIFIER, {"slack": None}, "slack must be a number"),
        (CLASSIFIER, {"slack": True}, "slack must be a number"),
        (CLASSIFIER, {"slack": 10**400}, "slack is too large"),
        (CLASSIFIER, {"max_cost": -1}, "max_cost must not be negative or NaN, but is -1"),
        (CLASSIFIER, {"max_cost": np.nan}, "max_cost"),
        (CLASSIFIER, {"max_cost": [1]}, "max_cost must be a number"),
        (CLASSIFIER, {"threshold": 1.1}, "threshold must be between 0 and 1, not 1.1"),
        (CLASSIFIER, {"threshold": np.nan}, "threshold must be between 0 and 1"),
        (CLASSIFIER, {"threshold": "half"}, "threshold must be a number"),
        (CLASSIFIER, {"order": "x"}, "order must be one of 'look-ahead', 'range', 'waiting', not 'x'"),
        (CLASSIFIER, {"tolerance": 1.0}, "tolerance is for regression"),
        (THREE, {"threshold": 0.5}, "threshold decides between two classes, but there are 3"),
        (stumps(2), {"threshold": 0.5}, "but this forest predicts numbers"),
        (stumps(2), {"tolerance": -1.0}, "tolerance must not be negative"),
        (stumps(2), {"tolerance": np.nan}, "tolerance must not be negative"),
        (stumps(2), {"costs": [1.0]}, "costs has 1 entries for 2 features"),
        (stumps(2), {"costs": BudgetPredictor(stumps(3)).costs}, "the costs are for 3 features"),
        (stumps(2), {"costs": {"x0": 1.0}}, "costs lacks 'x1'"),
        (CLASSIFIER, {"look_ahead": -1}, "look_ahead must be a whole number from 0 to 6, not -1"),
        (CLASSIFIER, {"look_ahead": 7}, "look_ahead"),
        (CLASSIFIER, {"look_ahead": 1.0}, "look_ahead"),
        (CLASSIFIER, {"look_ahead": True}, "look_ahead"),
        (stumps(2), {"order": ["range"]}, "order must be one of"),
        (stumps(2), {"order": None}, "order must be one of"),
        ("a forest", {}, "forest must be a Forest, not str; use Forest.from_model"),
    ],
)
def test_wrong_settings(forest, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        BudgetPredictor(forest, **settings)


@pytest.mark.parametrize("number", [0.25, np.float32(0.25), Fraction(1, 4)])
def test_numbers_of_all_kinds(number):
    predictor = BudgetPredictor(CLASSIFIER, slack=number, max_cost=number, threshold=number)
    assert (predictor.slack, predictor.max_cost, predictor.threshold) == (0.25, 0.25, 0.25)
    assert "slack=0.25, max_cost=0.25, threshold=0.25" in repr(predictor)
    assert BudgetPredictor(stumps(2), tolerance=number).tolerance == 0.25


def test_what_is_set_is_shown():
    """Also where it is 0 or 1, as other settings usually are."""
    shown = repr(BudgetPredictor(CLASSIFIER, max_cost=1.0, threshold=0.0, look_ahead=0))
    assert shown.endswith("2 sources, max_cost=1.0, threshold=0.0, look_ahead=0)")
    assert repr(BudgetPredictor(stumps(2))).endswith("2 sources)")


def test_a_limit_for_one_example_replaces_that_of_all():
    predictor = BudgetPredictor(stumps(3), max_cost=1.0)
    row = {"x0": 1.0, "x1": 1.0, "x2": 1.0}
    assert predictor.decide(row).cost == 1.0
    assert predictor.decide(row, max_cost=2.0).cost == 2.0
    assert predictor.decide(row, max_cost=np.inf).cost == 3.0
    assert predictor.step({}, max_cost=0).reason == "max_cost"
    assert predictor.simulate([[1.0, 1.0, 1.0]], max_cost=0).cost[0] == 0.0
    assert BudgetPredictor(stumps(3), max_cost=np.inf).max_cost is None


# --- Names of sources ---------------------------------------------------------------------------------------


def test_features_of_sources(clinic):
    assert clinic.feature_names == NAMES
    assert clinic.source_names == ("draw", "TSH", "T3", "TT4", "register")
    assert clinic.features_of("draw") == ("TSH", "T3", "index")
    assert clinic.features_of("TT4") == ("TT4", "index")
    assert clinic.features_of("register") == ("sex",)
    assert clinic.features_of("age") == ("age",)


def test_sources_that_nobody_needs_keep_their_names():
    costs = FeatureCosts.from_sources({"a": 1.0, "spare": 2.0, "spare (unused)": 3.0}, {0: "a", 1: "a"})
    predictor = BudgetPredictor(stumps(2), costs)
    assert [predictor.features_of(source) for source in predictor.source_names] == [("x0", "x1"), (), ()]
    decision = predictor.step({}, acquired=["spare"])
    assert decision.acquired == ("spare",)
    assert decision.cost == 2.0
    assert predictor.simulate([[1.0, 1.0]], known=["spare"]).cost[0] == 1.0


def test_a_free_feature_goes_by_its_own_name():
    """Its own source is listed, at a price of 0, but nobody needs it."""
    predictor = BudgetPredictor(stumps(2), {"x0": 0.0, "x1": 1.0})
    assert predictor.source_names == ("x0", "x1")
    assert predictor.features_of("x0") == ("x0",)
    assert predictor.step({}).next == "x0"
    assert predictor.step({"x0": 1.0}).next == "x1"
    assert predictor.step({}, unavailable=["x0"]).next == "x1"


def test_a_free_feature_whose_name_is_taken():
    """A source called x1 gives x0; x1 itself is free."""
    costs = FeatureCosts.from_sources({"x1": 1.0, "x1 (feature)": 5.0}, {0: "x1", 1: None})
    predictor = BudgetPredictor(stumps(2), costs)
    asked = []

    def fetch(source):
        asked.append(source)
        return 1.0

    assert predictor.decide(fetch).label == 3.0
    assert sorted(asked) == ["x1", "x1 (feature) (feature)"]
    assert predictor.features_of("x1 (feature) (feature)") == ("x1",)
    assert predictor.features_of("x1") == ("x0",)


# --- As a whole ---------------------------------------------------------------------------------------------


def test_plain_answers_are_those_of_the_forest():
    rows = np.random.default_rng(0).integers(0, 4, (30, 2)).astype(float)
    predictor = BudgetPredictor(replace(CLASSIFIER, missing="nan"), slack=0.4, max_cost=0.0)
    np.testing.assert_array_equal(predictor.predict(rows), CLASSIFIER.predict(rows))
    np.testing.assert_array_equal(predictor.predict_proba(rows), CLASSIFIER.predict_proba(rows))


def test_errors_and_decisions_can_be_pickled(clinic):
    def fetch(source):
        raise OSError("closed")

    with pytest.raises(AcquisitionError) as caught:
        clinic.decide(fetch)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.source == caught.value.source
    assert copy.decision.acquired == caught.value.decision.acquired


def test_predictors_can_be_pickled(clinic):
    copy = pickle.loads(pickle.dumps(clinic))
    assert copy.decide(ROW).acquired == clinic.decide(ROW).acquired


def test_predictors_can_be_saved(clinic, tmp_path):
    clinic.save(tmp_path / "clinic.budgetprune")
    copy = BudgetPredictor.load(tmp_path / "clinic.budgetprune")
    assert copy.decide(ROW).acquired == clinic.decide(ROW).acquired
    assert copy.source_names == clinic.source_names


def test_arrays_of_a_decision_are_its_own():
    """Whoever changes one of them changes no other."""
    decision = BudgetPredictor(stumps(2)).decide({"x0": 1.0, "x1": 1.0})
    decision.lower[0] = -1.0
    assert decision.upper[0] == 3.0


def test_settings_of_a_file_are_checked(tmp_path):
    forest = CLASSIFIER
    costs = BudgetPredictor(forest).costs
    for settings, message in [
        ({"sluck": 0.1}, "sluck"),
        ({"slack": 0.7}, "slack"),
        ({"order": "best"}, "order"),
    ]:
        save_model(tmp_path / "model", forest, costs, settings)
        with pytest.raises(InvalidInputError, match=rf"model cannot be loaded: .*{message}"):
            BudgetPredictor.load(tmp_path / "model")


def test_all_settings_come_back(tmp_path):
    settings = {"slack": 0.25, "max_cost": 3.0, "threshold": 0.4, "order": "range"}
    BudgetPredictor(CLASSIFIER, **settings).save(tmp_path / "model")
    loaded = BudgetPredictor.load(tmp_path / "model")
    assert {name: getattr(loaded, name) for name in settings} == settings
