"""What a fetch may bring, what it must not, and what happens if it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetprune import AcquisitionError, BudgetPredictor, InvalidInputError

from . import oracles
from .conftest import ROW
from .forests import LookedUp, by_source, stumps

pytestmark = pytest.mark.uncompiled


def returning(clinic: BudgetPredictor, source: str, wrong: Any):
    right = by_source(clinic, ROW)
    return lambda asked: wrong if asked == source else right(asked)


@pytest.mark.parametrize(
    ("source", "wrong", "message"),
    [
        ("TT4", 3.0, "several features need that source .'TT4', 'index'.: return a mapping"),
        ("TT4", "high", "several features need that source"),
        ("TT4", [1.0, 2.0], "several features need that source"),
        ("TT4", {"TT4": 1.0, "TT5": 2.0}, "there is no feature 'TT5'"),
        ("TT4", {"TT4": {"value": 1.0}, "index": 1.0}, "'TT4' must be a number, not dict"),
        ("TT4", {"TT4": "high", "index": 1.0}, "'TT4' must be a number, not str .'high'."),
        ("TT4", {3: 1.0}, "there is no feature 3"),
        ("TT4", {("TT4",): 1.0}, "there is no feature .'TT4',."),
        (
            "TT4",
            {},
            "no value for 'TT4', although all sources that it needs have been acquired \\(last 'TT4'",
        ),
        ("TT4", None, "no value for 'TT4'"),
        ("TSH", [2.0], "'TSH' must be a number, not list"),
        ("TSH", np.array([2.0]), "'TSH' must be a number, not ndarray"),
        ("TSH", b"2", "'TSH' must be a number, not bytes"),
        ("TSH", 2j, "'TSH' must be a number, not complex"),
        ("TSH", float("inf"), "'TSH' is an infinity or too large for float"),
        ("age", "old", "'age' must be a number"),
        ("register", {"age": 1.0}, "no value for 'sex'"),
    ],
)
def test_wrong_things(clinic, source, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        clinic.decide(returning(clinic, source, wrong))


@pytest.mark.parametrize("fetch", [None, 3, "age", [("age", 1)], iter(())])
def test_what_is_no_fetch(clinic, fetch):
    with pytest.raises(InvalidInputError, match="fetch must be callable or a mapping"):
        clinic.decide(fetch)


def test_a_coroutine_function_takes_adecide(clinic):
    async def fetch(source: str) -> float:
        return 1.0

    with pytest.raises(InvalidInputError, match="adecide"):
        clinic.decide(fetch)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"values": None}, "values must be a mapping from feature names to values, not NoneType"),
        ({"values": [1.0]}, "values must be a mapping"),
        ({"values": {"height": 1.0}}, "there is no feature 'height'; the features are 'age', 'TSH'"),
        ({"values": {}, "known": [1.0]}, "known must be a mapping"),
        ({"values": {}, "known": {"age": "old"}}, "'age' must be a number"),
        ({"values": {}, "acquired": ["blood"]}, "there is no source 'blood'; the sources are 'draw'"),
        ({"values": {}, "acquired": "draw"}, "acquired must be a list of names of sources, not 'draw'"),
        ({"values": {}, "acquired": None}, "acquired must be"),
        ({"values": {}, "acquired": [["draw"]]}, r"there is no source \['draw'\]"),
        ({"values": {}, "unavailable": ["age2"]}, "there is no source 'age2'"),
        ({"values": {}, "unavailable": 3}, "unavailable must be a list"),
        ({"values": {}, "acquired": ["TT4"]}, "no value for 'TT4'"),
        ({"values": {}, "max_cost": -1.0}, "max_cost must not be negative"),
        ({"values": {}, "max_cost": "much"}, "max_cost must be a number"),
    ],
)
def test_wrong_steps(clinic, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        clinic.step(**wrong)


def test_on_error_of_decide_is_checked(clinic):
    with pytest.raises(InvalidInputError, match="on_error must be 'raise' or 'skip', not 'ignore'"):
        clinic.decide(lambda source: None, on_error="ignore")


# A split on x1, and x0 is of no use.
ONE_SPLIT = stumps(2).prune(np.arange(6) == 3)


def test_a_mapping_needs_only_what_is_needed():
    """Values that no tree asks for may be anything."""
    predictor = BudgetPredictor(ONE_SPLIT)
    decision = predictor.decide({"x1": 0.0, "x0": object(), "other": None})
    assert decision.acquired == ("x1",)
    with pytest.raises(InvalidInputError, match="no value for 'x1'"):
        predictor.decide({"x0": 1.0})


def test_free_values_of_a_mapping_may_be_nonsense_until_needed():
    predictor = BudgetPredictor(ONE_SPLIT, [0.0, 1.0])
    assert predictor.decide({"x1": 0.0, "x0": object()}).reason == "complete"
    predictor = BudgetPredictor(ONE_SPLIT, [1.0, 0.0])
    with pytest.raises(InvalidInputError, match="'x1' must be a number"):
        predictor.decide({"x1": "a", "x0": 1.0})
    with pytest.raises(InvalidInputError, match="no value for 'x1'"):
        predictor.decide({"x0": 1.0})


def test_errors_tell_what_was_learned(clinic):
    asked: list[str] = []

    def fetch(source: str) -> Any:
        if source == "TSH":
            raise OSError("the laboratory is closed")
        return by_source(clinic, ROW, asked)(source)

    with pytest.raises(
        AcquisitionError, match=r"'TSH' could not be fetched .OSError: the laboratory"
    ) as caught:
        clinic.decide(fetch)
    error = caught.value
    assert isinstance(error.__cause__, OSError)
    assert error.source == "TSH"
    decision = error.decision
    assert decision.acquired[-1] == "TSH"
    assert decision.cost == sum(oracles.price_of(clinic.costs, s) for s in decision.acquired)
    assert decision.next != "TSH"
    final = oracles.plain_probabilities(clinic.forest, np.array(list(ROW.values())))
    assert np.all(decision.lower <= final)
    assert np.all(final <= decision.upper)


def test_what_is_of_no_use_after_a_failure_is_not_next(clinic):
    """Without the draw, TSH and T3 are not worth asking for."""

    def fetch(source: str) -> Any:
        if source == "draw":
            raise OSError
        return by_source(clinic, ROW)(source)

    with pytest.raises(AcquisitionError) as caught:
        clinic.decide(fetch)
    assert caught.value.source == "draw"
    decision = caught.value.decision
    assert (decision.next, decision.reason) in {("TT4", "waiting"), (None, "unavailable")}


def test_a_mapping_that_fails_is_a_source_that_fails(clinic):
    class Remote(LookedUp):
        def __getitem__(self, name: str) -> Any:
            if name == "TT4":
                raise TimeoutError
            return super().__getitem__(name)

    with pytest.raises(AcquisitionError) as caught:
        clinic.decide(Remote(ROW))
    assert caught.value.source == "TT4"


def test_who_interrupts_is_not_asked_why(clinic):
    def fetch(source: str) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clinic.decide(fetch)


def test_a_lazy_mapping_is_asked_for_what_is_needed_only():
    row = LookedUp({"x0": 0.0, "x1": 1.0})
    BudgetPredictor(ONE_SPLIT).decide(row)
    assert row.asked == {"x1"}
