"""Values as they come from dictionaries, tables and requests: read as `Forest.prepare_rows` reads them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune import BudgetPredictor, InvalidInputError

from ..solvers.strategies import examples
from .forests import stumps

SINGLE = replace(stumps(2), input_dtype=np.dtype(np.float32))


@pytest.mark.parametrize("forest", [stumps(2), SINGLE], ids=["float64", "float32"])
@pytest.mark.parametrize(
    ("value", "goes_right"),
    [
        (1, True),
        (0, False),
        (0.5, False),
        (0.50001, True),
        (0.5000000001, None),  # in single precision, it is the threshold
        (True, True),
        (False, False),
        (np.True_, True),
        (np.int8(1), True),
        (np.uint64(2**63), True),
        (np.float16(0.5), False),
        (np.float32(1.0), True),
        (np.longdouble(0.25), False),
        (10**30, True),
        (-(10**30), False),
        (-0.0, False),
        (5e-324, False),
        (None, False),  # missing values go left
        (float("nan"), False),
        (np.float32("nan"), False),
        (pd.NA, False),
    ],
    ids=repr,
)
def test_numbers(forest, value, goes_right):
    """By `step` and by `decide`, with a dictionary of numbers only and with others beside them."""
    if goes_right is None:
        goes_right = forest is not SINGLE
    predictor = BudgetPredictor(forest)
    for row in ({"x0": value, "x1": 1.0}, {"x0": value, "x1": None}):
        expected = float(goes_right) + 2.0 * (row["x1"] is not None)
        assert predictor.decide(row).label == expected
        assert predictor.step(row).label == expected
        assert predictor.decide(row.get).label == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1", "the value of 'x0' must be a number, not str .'1'."),
        ("", "must be a number, not str"),
        (b"1", "must be a number, not bytes"),
        (1j, "must be a number, not complex"),
        (np.complex64(1), "must be a number, not complex64"),
        (Decimal(1), "must be a number, not Decimal"),
        ([1.0], "must be a number, not list"),
        ((1.0,), "must be a number, not tuple"),
        (np.array([1.0, 2.0]), "must be a number, not ndarray"),
        (np.timedelta64(1, "s"), "must be a number, not timedelta64"),
        (np.datetime64(1, "s"), "must be a number, not datetime64"),
        (pd.Timestamp(0), "must be a number, not Timestamp"),
        (pd.NaT, "must be a number, not NaTType"),
        (object, "must be a number, not type"),
        (float("inf"), "'x0' is an infinity or too large for float"),
        (-np.inf, "infinity"),
        (10**400, "too large"),
        (-(10**5000), "too large"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("other", [1.0, None])
def test_no_numbers(value, message, other):
    predictor = BudgetPredictor(stumps(2))
    row = {"x0": value, "x1": other}
    for ask in (predictor.decide, predictor.step, lambda row: predictor.decide(row.get)):
        with pytest.raises(InvalidInputError, match=message):
            ask(row)


def test_too_large_for_single_precision_only():
    with pytest.raises(InvalidInputError, match="too large for float32"):
        BudgetPredictor(SINGLE).decide({"x0": 1e39, "x1": 1.0})
    assert BudgetPredictor(stumps(2)).decide({"x0": 1e39, "x1": 1.0}).label == 3.0


@pytest.mark.parametrize("value", [None, np.nan, pd.NA])
def test_missing_where_that_is_forbidden(value):
    predictor = BudgetPredictor(replace(stumps(2), missing="forbidden"))
    for ask in (predictor.decide, predictor.step, lambda row: predictor.decide(row.get)):
        with pytest.raises(
            InvalidInputError, match="'x0' is missing, which this forest cannot route: impute"
        ):
            ask({"x0": value, "x1": 1.0})


def test_a_value_that_cannot_be_shown():
    class Strange:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(InvalidInputError, match="must be a number, not Strange"):
        BudgetPredictor(stumps(2)).step({"x0": Strange()})


numbers = st.one_of(
    st.floats(allow_infinity=False, width=32),
    st.integers(-(2**60), 2**60),
    st.booleans(),
    st.sampled_from([0.5, np.nextafter(0.5, 1), np.nextafter(np.float32(0.5), 1), np.float32(0.5)]),
)


@examples(200)
@given(values=st.lists(numbers, min_size=3, max_size=3), is_single=st.booleans())
def test_tables_and_mappings_agree(values, is_single):
    """To the last bit: the same value is on the same side of a threshold, however it comes."""
    forest = stumps(3, input_dtype=np.dtype(np.float32 if is_single else np.float64))
    predictor = BudgetPredictor(forest)
    row = dict(zip(predictor.feature_names, values, strict=True))
    label = predictor.decide(row).label
    assert label == predictor.decide(row.get).label
    assert label == predictor.simulate(np.array([values], dtype=object)).label[0]
    assert label == forest.predict(np.array([values], dtype=object))[0]


# --- Categories ---------------------------------------------------------------------------------------------


def by_category(*categories: object):
    """x0 is in the first or the third category, or not; x1 is a number."""
    forest = stumps(2)
    own = np.array([0, -1, -1, -1, -1, -1])
    return replace(
        forest,
        threshold=np.where(own == 0, np.nan, forest.threshold),
        category_set=own,
        category_start=[0, 1],
        category_bits=[0b101],
        missing_left=np.zeros(6, bool),
        categories=(categories, None),
    )


@pytest.mark.parametrize(
    ("categories", "value", "goes_left"),
    [
        (("a", "b", "c"), "a", True),
        (("a", "b", "c"), "b", False),
        (("a", "b", "c"), np.str_("c"), True),
        (("a", "b", "c"), "d", False),  # unknown, so missing, and missing goes right
        (("a", "b", "c"), None, False),
        (("a", "b", "c"), float("nan"), False),
        (("a", "b", "c"), pd.NA, False),
        ((10, 20, 30), 30, True),
        ((10, 20, 30), np.int64(10), True),
        ((10, 20, 30), 30.0, True),
        ((10, 20, 30), 0, False),
        ((False, True), False, True),
        ((False, True), np.True_, False),
        ((None, "a", "b"), None, True),  # where the model took "missing" for a category
        (("a", None, "b"), "b", True),
        ((1, "a", 2), "a", False),
        (("", " ", "\n"), "\n", True),
    ],
)
def test_categories_go_by_name(categories, value, goes_left):
    predictor = BudgetPredictor(by_category(*categories))
    row = {"x0": value, "x1": 0.0}
    for decision in (predictor.decide(row), predictor.step(row), predictor.decide(row.get)):
        assert decision.label == (0.0 if goes_left else 1.0)


def test_categories_of_tables_and_mappings_agree():
    predictor = BudgetPredictor(by_category("a", "b", "c"))
    table = pd.DataFrame({"x0": ["a", "b", "c", "d", None], "x1": [0.0, 1.0, np.nan, 0.0, 1.0]})
    expected = predictor.simulate(table).label
    assert [predictor.decide(row).label for row in table.to_dict("records")] == expected.tolist()


@pytest.mark.parametrize(
    ("categories", "value", "message"),
    [
        (("a", "b", "c"), 0, "the value of 'x0' is 0, but its categories in training were 'a', 'b', 'c'"),
        (("a", "b", "c"), True, "its categories in training were"),
        ((10, 20, 30), "10", "the value of 'x0' is '10', but its categories in training were 10, 20, 30"),
        (("a", "b", "c"), ["a"], r"the value of 'x0' is not a category: \['a'\]"),
        (("a", "b", "c"), {"a": 1}, "is not a category"),
    ],
)
def test_what_is_no_category(categories, value, message):
    """Numbers instead of names would silently all be unknown; a table with them is refused too."""
    predictor = BudgetPredictor(by_category(*categories))
    with pytest.raises(InvalidInputError, match=message):
        predictor.decide({"x0": value, "x1": 0.0})
    with pytest.raises(InvalidInputError, match=message):
        predictor.step({"x0": value})


# --- Names --------------------------------------------------------------------------------------------------

ODD = ("", " ", "Größe [m²]", "a\nb", "x1", "a.b['c']", "💊", "{}", "None")


def test_odd_names():
    predictor = BudgetPredictor(stumps(len(ODD), ODD))
    assert predictor.feature_names == predictor.source_names == ODD
    row = dict.fromkeys(ODD, 1.0)
    for decision in (predictor.decide(row), predictor.decide(row.get), predictor.step(row)):
        assert decision.label == 2 ** len(ODD) - 1
        assert sorted(decision.acquired) == sorted(ODD)


@pytest.mark.parametrize("name", ["X0", "x2", "", 0, None, ("x0",), 1.5])
def test_unknown_names(name):
    predictor = BudgetPredictor(stumps(2))
    with pytest.raises(InvalidInputError, match=r"there is no feature .*; the features are 'x0', 'x1'"):
        predictor.step({name: 1.0})
    with pytest.raises(InvalidInputError, match=r"there is no source .*; the sources are 'x0', 'x1'"):
        predictor.features_of(name)


def test_unused_features_are_read_too_but_not_needed():
    """A typing error in a value is told at once, where values are sent; a mapping is not even looked at."""
    predictor = BudgetPredictor(stumps(2).prune(np.arange(6) == 3))
    assert predictor.step({"x1": 1.0}).reason == "complete"
    with pytest.raises(InvalidInputError, match="'x0' must be a number"):
        predictor.step({"x0": "?", "x1": 1.0})
    assert predictor.decide({"x0": "?", "x1": 1.0}).reason == "complete"


def test_a_single_feature():
    predictor = BudgetPredictor(stumps(1))
    assert predictor.decide({"x0": 1.0}).label == 1.0
    assert predictor.decide({"x0": None}).label == 0.0
    assert predictor.decide(lambda source: 1.0).label == 1.0
