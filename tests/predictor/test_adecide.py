"""`adecide`: several sources at once, in whatever order they come; nothing is left under way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune import AcquisitionError, BudgetPredictor, Decision, FeatureCosts, InvalidInputError

from ..solvers.strategies import examples
from . import oracles
from .conftest import ROW
from .counters import Counter, places, run
from .forests import stumps

pytestmark = pytest.mark.uncompiled


def assert_holds(decision: Decision, predictor: BudgetPredictor, row: np.ndarray) -> None:
    """The bounds hold, and what is decided is the plain label."""
    final = oracles.plain_probabilities(predictor.forest, row)
    assert np.all(decision.lower <= final)
    assert np.all(final <= decision.upper)
    assert not decision.decided or decision.label == oracles.plain_label(predictor.forest, row)


@examples(150)
@given(place=places(), concurrency=st.sampled_from([1, 2, 3, 10]))
def test_the_answer_is_the_plain_one_in_any_order(place, concurrency):
    predictor, counter, row = place
    decision = run(predictor.adecide(counter.fetch, concurrency=concurrency))
    assert decision.decided
    assert_holds(decision, predictor, row)
    assert counter.most_at_once <= concurrency
    assert counter.under_way == 0
    # Each source is asked for once, if at all, and only if the plain forest needs it too.
    assert len(counter.asked) == len(set(counter.asked))
    assert [s for s in counter.asked if s in decision.acquired] == list(decision.acquired)
    assert set(decision.acquired) <= oracles.sources_needed(predictor.forest, predictor.costs, row)
    assert decision.cost == pytest.approx(
        sum(oracles.price_of(predictor.costs, s) for s in decision.acquired)
    )


@examples(60)
@given(place=places())
def test_one_at_a_time_is_what_decide_does(place):
    predictor, counter, _ = place
    decision = run(predictor.adecide(counter.fetch, concurrency=1))
    expected = predictor.decide(lambda s: {name: counter.row[name] for name in predictor.features_of(s)})
    assert decision.acquired == expected.acquired
    assert (decision.label, decision.reason) == (expected.label, expected.reason)
    assert not counter.cancelled


def failing(predictor, row, fails):
    """Make a fetch that raises an error for some sources."""

    def fetch(source):
        if source in fails:
            raise OSError(source)
        return {name: row[name] for name in predictor.features_of(source)}

    return fetch


@examples(150)
@given(place=places(), concurrency=st.sampled_from([1, 2, 10]), data=st.data())
def test_failures(place, concurrency, data):
    """Skipped, the best answer has bounds that hold; raised, the error tells the same."""
    predictor, counter, row = place
    fails = data.draw(
        st.sets(st.sampled_from((*predictor.source_names, *predictor.feature_names)), max_size=3)
    )
    counter.fails = frozenset(fails)
    decision = run(predictor.adecide(counter.fetch, concurrency=concurrency, on_error="skip"))
    assert_holds(decision, predictor, row)
    assert decision.decided or decision.reason == "unavailable"
    assert decision.next is None
    if not decision.decided:
        assert_nothing_more_to_do(predictor, counter, row)
    if concurrency == 1:
        other = predictor.decide(failing(predictor, counter.row, fails), on_error="skip")
        assert (other.acquired, other.cost) == (decision.acquired, decision.cost)
        assert (other.label, other.reason) == (decision.label, decision.reason)
    culprit = None
    try:
        decision = run(predictor.adecide(counter.fetch, concurrency=concurrency))
    except AcquisitionError as error:
        decision, culprit = error.decision, error.source
    assert culprit in {None, *fails}
    assert_holds(decision, predictor, row)
    assert counter.under_way == 0


def assert_nothing_more_to_do(predictor: BudgetPredictor, counter: Counter, row: np.ndarray) -> None:
    """Undecided means that every tree stands at a leaf, or at a feature that needs something that failed."""
    arrived, names = set(counter.asked) - counter.fails, predictor.feature_names
    needs = [oracles.sources_of(predictor.costs, k) or [name] for k, name in enumerate(names)]
    known = np.array([set(need) <= arrived for need in needs])
    for root in predictor.forest.tree_start[:-1]:
        h = oracles.stand(predictor.forest, int(root), row, known)
        k = predictor.forest.feature[h]
        assert k < 0 or set(needs[k]) & counter.fails


@examples(150)
@given(
    place=places(),
    concurrency=st.sampled_from([1, 3, 10]),
    cancel_after=st.lists(st.integers(0, 8), min_size=1, max_size=3),
)
def test_cancellation_leaves_nothing_behind(place, concurrency, cancel_after):
    """Whoever cancels, once or again while requests clean up, gets his cancellation and no leftover task."""
    predictor, counter, row = place

    async def cancelled_sooner_or_later() -> None:
        task = asyncio.create_task(predictor.adecide(counter.fetch, concurrency=concurrency))
        for turns in cancel_after:
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
        try:
            assert_holds(await task, predictor, row)
        except asyncio.CancelledError:
            assert task.cancelled()
        assert counter.under_way == 0

    run(cancelled_sooner_or_later())


# --- Under way, and no longer needed ------------------------------------------------------------------------


def test_what_is_no_longer_needed_is_cancelled_and_charged():
    """x2 moves the target by 4; the tolerance forgives the others, which are still under way."""
    predictor = BudgetPredictor(stumps(3), [1.0, 1.0, 1.0], tolerance=3.0)
    counter = Counter(predictor, {"x0": 1.0, "x1": 1.0, "x2": 1.0}, lambda s: 1 if s == "x2" else 1000)
    decision = run(predictor.adecide(counter.fetch, concurrency=3))
    assert decision.reason == "certain"
    assert sorted(decision.acquired) == ["x0", "x1", "x2"]
    assert decision.cost == 3.0
    assert sorted(counter.cancelled) == ["x0", "x1"]


def test_a_source_that_is_of_no_use_any_more_is_asked_for_again_if_it_becomes_useful():
    """x0 needs a and b; b fails, so a is cancelled. Then a tree comes to x1, which needs a alone."""
    chain = stumps(3, names=("x0", "x1", "x2"))
    deep = {
        "tree_start": [0, 3, 8],
        "parent": [-1, 0, 0, -1, 3, 4, 4, 3],
        "left": [1, -1, -1, 4, 5, -1, -1, -1],
        "right": [2, -1, -1, 7, 6, -1, -1, -1],
        "feature": [0, -1, -1, 2, 1, -1, -1, -1],
        "threshold": [0.5, np.nan, np.nan, 0.5, 0.5, np.nan, np.nan, np.nan],
        "value": np.array([[0, 0, 1, 0, 0, 2, 4, 8]]).T,
    }
    per_node = {
        "missing_left": np.zeros(8, bool),
        "category_set": np.full(8, -1),
        "weight": np.ones(8),
        "origin_node": np.arange(8),
        "tree_output": [-1, -1],
    }
    forest = replace(chain, **deep, **per_node)
    costs = FeatureCosts.from_sources(
        {"a": 1.0, "b": 1.0, "c": 1.0}, {"x0": ["a", "b"], "x1": "a", "x2": "c"}
    )
    predictor = BudgetPredictor(forest, costs)
    turns = {"a": 50, "b": 1, "c": 10}
    counter = Counter(predictor, {"x0": 1.0, "x1": 1.0, "x2": 0.0}, turns.get, frozenset({"b"}))
    decision = run(predictor.adecide(counter.fetch, concurrency=3, on_error="skip"))
    assert counter.cancelled == ["a"]
    assert counter.asked.count("a") == 2
    assert decision.cost == 3.0
    assert sorted(decision.acquired) == ["a", "b", "c"]
    assert decision.reason == "unavailable"
    np.testing.assert_allclose((decision.lower, decision.upper), [[4.0], [5.0]], atol=1e-9)


def test_requests_that_refuse_to_be_cancelled_are_waited_for():
    predictor = BudgetPredictor(stumps(2), tolerance=1.0)
    ended = []

    async def fetch(source: str) -> float:
        if source == "x1":
            return 1.0
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            for _ in range(5):
                await asyncio.sleep(0)
            ended.append(source)
        return 1.0

    assert run(predictor.adecide(fetch, concurrency=2)).reason == "certain"
    assert ended == ["x0"]


def test_a_timeout_is_a_failure():
    predictor = BudgetPredictor(stumps(2))

    async def fetch(source: str) -> float:
        if source == "x0":
            await asyncio.Event().wait()
        return 1.0

    with pytest.raises(AcquisitionError, match=r"'x0' could not be fetched .TimeoutError") as caught:
        run(predictor.adecide(fetch, timeout=0.01))
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert caught.value.source == "x0"
    assert caught.value.decision.cost == 2.0
    decision = run(predictor.adecide(fetch, timeout=0.01, on_error="skip"))
    assert decision.reason == "unavailable"
    np.testing.assert_allclose((decision.lower, decision.upper), [[2.0], [3.0]], atol=1e-9)


def test_an_error_tells_what_came_at_the_same_time():
    """x1 and x2 come in the same turn in which x0 fails: their values are not lost."""
    predictor = BudgetPredictor(stumps(3))
    counter = Counter(predictor, {"x0": 1.0, "x1": 1.0, "x2": 1.0}, fails=frozenset({"x0"}))
    with pytest.raises(AcquisitionError) as caught:
        run(predictor.adecide(counter.fetch, concurrency=3))
    np.testing.assert_allclose(caught.value.decision.lower, [6.0])
    np.testing.assert_allclose(caught.value.decision.upper, [7.0])
    assert caught.value.decision.cost == 3.0


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_fetch_that_cancels_itself_has_failed(on_error):
    predictor = BudgetPredictor(stumps(1))

    async def fetch(source: str) -> float:
        raise asyncio.CancelledError

    if on_error == "skip":
        assert run(predictor.adecide(fetch, on_error="skip")).reason == "unavailable"
    else:
        with pytest.raises(AcquisitionError):
            run(predictor.adecide(fetch))


def test_errors_of_the_fetch_are_not_mistaken_for_ours():
    """A fetch may raise our own errors, from a model of its own."""

    async def fetch(source: str) -> float:
        raise InvalidInputError("another model's trouble")

    predictor = BudgetPredictor(stumps(1))
    with pytest.raises(AcquisitionError, match="another model's trouble"):
        run(predictor.adecide(fetch))
    assert run(predictor.adecide(fetch, on_error="skip")).reason == "unavailable"


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_what_must_not_be_caught_is_not_caught(on_error):
    class Halt(BaseException):
        pass

    async def fetch(source: str) -> float:
        raise Halt

    with pytest.raises(Halt):
        run(BudgetPredictor(stumps(1)).adecide(fetch, on_error=on_error))


@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("high", "must be a number, not str"),
        ({"x9": 1.0}, "there is no feature 'x9'"),
        ({}, "there is no value for"),
        ([1.0], "must be a number, not list"),
    ],
)
def test_wrong_things_are_errors_and_leave_nothing_behind(wrong, message, on_error):
    """They are mistakes of whoever wrote the fetch, so skipping does not hide them."""
    predictor = BudgetPredictor(stumps(3))

    async def fetch(source: str) -> Any:
        if source == "x1":
            return wrong
        await asyncio.sleep(60)
        return 1.0

    with pytest.raises(InvalidInputError, match=message):
        run(predictor.adecide(fetch, concurrency=3, on_error=on_error))


def test_known_values_and_cost_limit(clinic):
    counter = Counter(clinic, ROW)
    decision = run(clinic.adecide(counter.fetch, known={"index": 1.0}, max_cost=2.5, concurrency=4))
    assert decision.reason == "max_cost"
    assert decision.acquired in (("TSH",), ("T3",))
    assert_holds(decision, clinic, np.array(list(ROW.values())))


@examples(60)
@given(place=places(), money=st.sampled_from([0.0, 0.3, 1.0, 2.0]))
def test_money_is_never_exceeded_by_requests_under_way(place, money):
    predictor, counter, row = place
    decision = run(predictor.adecide(counter.fetch, concurrency=10, max_cost=money))
    assert decision.cost <= money + 1e-9
    assert_holds(decision, predictor, row)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"concurrency": 0}, "concurrency must be a whole number from 1, not 0"),
        ({"concurrency": True}, "concurrency"),
        ({"concurrency": 2.0}, "concurrency"),
        ({"timeout": 0}, "timeout must be positive"),
        ({"timeout": float("nan")}, "timeout must be positive"),
        ({"timeout": "1 s"}, "timeout must be a number"),
        ({"on_error": "ignore"}, "on_error must be 'raise' or 'skip', not 'ignore'"),
        ({"fetch": {"x0": 1.0}}, "fetch must be a coroutine function, not dict"),
        (
            {"fetch": lambda source: 1.0},
            "coroutine function; for an ordinary one, use decide",
        ),
        ({"known": {"x7": 1.0}}, "there is no feature 'x7'"),
        ({"max_cost": -1}, "max_cost"),
    ],
)
def test_wrong_settings(settings, message):
    async def fetch(source: str) -> float:
        return 1.0

    with pytest.raises(InvalidInputError, match=message):
        run(BudgetPredictor(stumps(2)).adecide(**({"fetch": fetch} | settings)))


def test_other_numbers_and_awaitables_will_do():
    async def value() -> float:
        return 1.0

    predictor = BudgetPredictor(stumps(2))

    async def decide() -> Decision:
        return await predictor.adecide(
            lambda source: asyncio.ensure_future(value()), concurrency=np.int64(2), timeout=np.float32(60)
        )

    assert run(decide()).label == 3.0


def test_an_error_says_what_can_be_asked_for_next():
    """Requests that were under way are withdrawn, and can be made again at no cost."""
    predictor = BudgetPredictor(stumps(4))

    async def fetch(source: str) -> Any:
        if source == "x3":
            raise OSError("closed")
        await asyncio.sleep(60)

    with pytest.raises(AcquisitionError) as caught:
        asyncio.run(predictor.adecide(fetch, concurrency=3))
    decision = caught.value.decision
    assert (decision.reason, decision.next_cost, decision.cost) == ("waiting", 0.0, 3.0)
    assert decision.next in decision.acquired


def test_an_error_about_a_value_has_the_current_decision():
    predictor = BudgetPredictor(stumps(3))
    with pytest.raises(AcquisitionError, match=r"'x1' returned an invalid .*must be a number") as caught:
        predictor.decide(lambda source: "high" if source == "x1" else 1.0)
    assert isinstance(caught.value, InvalidInputError)
    assert caught.value.source == "x1"
    assert "x1" in caught.value.decision.acquired
    assert caught.value.decision.next != "x1"
