"""Measures of ranking equal their definitions, with equal scores in random order."""

from itertools import chain, permutations, product
from math import log2

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from budgetprune.errors import InvalidInputError
from budgetprune.ranking import average_precision_at, ndcg_at

MEASURES = [average_precision_at, ndcg_at]
EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True, database=None)


# --- The definitions, in plain Python -----------------------------------------------------------------------


def average_precision(ranked, k, relevant=1):
    """AP@k of relevance that is given in the order of the ranking; None if nothing is relevant."""
    hits = [grade >= relevant for grade in ranked]
    if not any(hits):
        return None
    return sum(sum(hits[: i + 1]) / (i + 1) for i in range(min(k, len(hits))) if hits[i]) / min(k, sum(hits))


def ndcg(ranked, k, gain):
    """NDCG@k of relevance that is given in the order of the ranking; None if there is nothing to gain."""

    def dcg(order):
        return sum(gain(grade) / log2(i + 2) for i, grade in enumerate(order[:k]))

    best = dcg(sorted(ranked, reverse=True))
    return dcg(ranked) / best if best else None


def rankings(grades, scores):
    """List all orders that the scores allow, each as often as it occurs."""
    levels = sorted(set(scores), reverse=True)
    blocks = [[grade for grade, score in zip(grades, scores, strict=True) if score == s] for s in levels]
    return [list(chain(*order)) for order in product(*(permutations(block) for block in blocks))]


def over_queries(measure, y, score, qid, empty="skip"):
    """Mean over queries of the mean over rankings."""
    values = []
    for query in sorted(set(qid)):
        rows = [i for i in range(len(qid)) if qid[i] == query]
        ranked = rankings([y[i] for i in rows], [score[i] for i in rows])
        qualities = [measure(order) for order in ranked]
        if qualities[0] is not None:
            values.append(sum(qualities) / len(qualities))
        elif empty != "skip":
            values.append(empty)
    return sum(values) / len(values)


@st.composite
def tables(draw, max_rows=6):
    """A few queries with up to `max_rows` documents, few distinct scores, rows of the queries mixed up."""
    row = st.tuples(st.integers(0, 3), st.sampled_from([-1.5, 0.0, 0.25, 1e300]))
    queries = draw(st.lists(st.lists(row, min_size=1, max_size=max_rows), min_size=1, max_size=3))
    rows = [(grade, score, f"q{q}") for q, query in enumerate(queries) for grade, score in query]
    y, score, qid = zip(*draw(st.permutations([*rows, (2, 0.0, "q0")])), strict=True)
    return list(y), list(score), list(qid)


# --- The measures -------------------------------------------------------------------------------------------


@EXAMPLES
@given(tables(max_rows=5), st.integers(1, 8), st.integers(1, 2), st.sampled_from(["skip", 0, 0.25, 1]))
def test_average_precision_is_the_mean_over_all_orders_of_ties(table, k, relevant, empty):
    expected = over_queries(lambda ranked: average_precision(ranked, k, relevant), *table, empty)
    actual = average_precision_at(*table, k, relevant=relevant, empty=empty)
    assert actual == pytest.approx(expected, rel=1e-12)


@EXAMPLES
@given(tables(max_rows=5), st.integers(1, 8), st.booleans(), st.sampled_from(["skip", 0, 0.25, 1]))
def test_ndcg_is_the_mean_over_all_orders_of_ties(table, k, linear, empty):
    gain = (lambda grade: grade) if linear else (lambda grade: 2**grade - 1)
    expected = over_queries(lambda ranked: ndcg(ranked, k, gain), *table, empty)
    actual = ndcg_at(*table, k, gain="linear" if linear else "exponential", empty=empty)
    assert actual == pytest.approx(expected, rel=1e-12)


@EXAMPLES
@given(tables(max_rows=40), st.integers(1, 50))
def test_linear_ndcg_is_that_of_scikit_learn(table, k):
    y, score, qid = map(np.array, table)
    # scikit-learn refuses lists of one document, whose order cannot be wrong.
    values = [
        ndcg_score([y[qid == q]], [score[qid == q]], k=k) if sum(qid == q) > 1 else float(y[qid == q][0] > 0)
        for q in np.unique(qid)
    ]
    assert ndcg_at(*table, k, gain="linear", empty=0) == pytest.approx(np.mean(values), rel=1e-12)


@EXAMPLES
@given(tables(max_rows=40), st.integers(1, 50), st.randoms())
def test_order_of_rows_and_names_of_queries_do_not_matter(table, k, random):
    rows = list(zip(*table, strict=True))
    random.shuffle(rows)
    y, score, qid = zip(*rows, strict=True)
    for measure in MEASURES:
        exact = measure(*table, k)
        assert measure(y, score, qid, k) == exact  # to the last bit
        assert measure(y, score, [-int(q[1:]) for q in qid], k) == pytest.approx(exact, rel=1e-12)
        assert 0 <= exact <= 1


def test_fractional_relevance_rounds_the_same_in_any_order_of_rows():
    rng = np.random.default_rng(0)
    y, score, qid = rng.random(400), rng.integers(0, 3, 400), rng.integers(0, 9, 400)
    shuffled = rng.permutation(400)
    for gain in ("linear", "exponential"):
        assert ndcg_at(y[shuffled], score[shuffled], qid[shuffled], gain=gain) == ndcg_at(
            y, score, qid, gain=gain
        )


def test_the_best_ranking_is_never_better_than_1():
    rng = np.random.default_rng(0)
    y, qid = rng.choice([0.1, 0.3, 0.7], 1200), np.repeat(np.arange(100), 12)
    score = y + 1e-6 * rng.permutation(1200) / 1200
    values = [ndcg_at(y[qid == q], score[qid == q], qid[qid == q], k=12, gain="linear") for q in range(100)]
    assert max(values) == 1
    assert min(values) > 1 - 1e-12


def test_many_long_queries_without_ties():
    rng = np.random.default_rng(0)
    qid = rng.integers(0, 200, 5000)
    y, score = rng.integers(0, 5, 5000) * (qid % 7 > 0), rng.permutation(5000)
    order = np.argsort(-score)
    ranked = [y[order][qid[order] == q].tolist() for q in range(200)]
    for actual, measure in [
        (average_precision_at(y, score, qid, relevant=3), lambda r: average_precision(r, 5, relevant=3)),
        (ndcg_at(y, score, qid), lambda r: ndcg(r, 10, lambda grade: 2**grade - 1)),
    ]:
        values = [value for r in ranked if (value := measure(r)) is not None]
        assert len(values) < 200
        assert actual == pytest.approx(np.mean(values), rel=1e-12)


def test_values_by_hand():
    y, score = [1, 0, 1, 0, 0, 1], [6, 5, 4, 3, 2, 1]
    one = np.zeros(6)
    assert average_precision_at(y, score, one) == pytest.approx((1 + 2 / 3) / 3)
    assert average_precision_at(y, score, one, k=6) == pytest.approx((1 + 2 / 3 + 3 / 6) / 3)
    assert average_precision_at(y, score, one, k=2) == pytest.approx(1 / 2)
    assert ndcg_at([3, 0, 2], [1, 3, 2], [7, 7, 7], k=2) == pytest.approx(3 / log2(3) / (7 + 3 / log2(3)))


@pytest.mark.parametrize("measure", MEASURES)
def test_a_constant_score_gains_nothing_from_relevant_rows_that_come_first(measure):
    first, constant = np.repeat([1, 0], [5, 15]), np.zeros(20)
    qid = np.ones(20)
    assert measure(first, -np.arange(20), qid, k=5) == 1
    assert measure(first, constant, qid, k=5) == measure(first[::-1], constant, qid, k=5)
    rng = np.random.default_rng(0)
    sample = [measure(first, rng.permutation(20), qid, k=5) for _ in range(3000)]
    error = np.std(sample) / np.sqrt(len(sample))
    assert abs(measure(first, constant, qid, k=5) - np.mean(sample)) < 4 * error < 0.03


@pytest.mark.parametrize("measure", MEASURES)
def test_weights_count_queries(measure):
    y, score, qid = [0, 1, 1, 0, 0, 0], [2, 1, 2, 1, 2, 1], list("aabbcc")
    bad, good = measure(y[:2], score[:2], qid[:2]), 1
    assert measure(y, score, qid) == pytest.approx((bad + good) / 2)
    assert measure(y, score, qid, sample_weight=[3, 3, 1, 1, 5, 5]) == pytest.approx((3 * bad + good) / 4)
    assert measure(y, score, qid, sample_weight=[0, 0, 1, 1, 5, 5]) == good
    assert measure(y, score, qid, sample_weight=[1, 1, 1, 1, 2, 2], empty=0) == pytest.approx(
        (bad + good) / 4
    )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "as_column",
    [
        list,
        np.array,
        pd.Series,
        lambda values: pd.Series(values, index=range(6, 0, -1)),
        lambda values: pd.Series(values).astype("category" if isinstance(values[0], str) else "Int64"),
        pl.Series,
    ],
)
def test_any_kind_of_column(measure, as_column):
    y, score, qid = [0, 1, 1, 0, 0, 2], [2, 1, 2, 1, 2, 1], ["b", "a", "b", "a", "c", "c"]
    assert measure(*map(as_column, (y, score, qid))) == measure(y, score, [2, 1, 2, 1, 3, 3])


def test_huge_and_tiny_numbers():
    assert average_precision_at([0, 1], [-1.7e308, 1.7e308], [1, 1]) == 1
    assert average_precision_at([0, 1], [5e-324, 0.0], [1, 1]) == 0.5
    assert average_precision_at([0, 1], [-0.0, 0.0], [1, 1]) == 0.75  # a tie
    assert ndcg_at([1e300, 0], [1, 0], [1, 1], gain="linear") == 1


# --- Refusals -----------------------------------------------------------------------------------------------

GOOD = {"y_true": [0, 1, 2], "y_score": [0.1, 0.2, 0.3], "qid": [1, 1, 2]}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_score": [1, 2]}, r"y_score must have one entry for each of the 3 rows, but its shape is \(2,\)"),
        ({"y_score": np.eye(3)}, r"y_score .* shape is \(3, 3\)"),
        ({"y_true": [[0], [1], [2]]}, r"y_true .* shape is \(3, 1\)"),
        ({"y_true": 1}, r"y_true .* shape is \(\)"),
        ({"y_true": [], "y_score": [], "qid": []}, "y_true has no rows"),
        ({"y_true": ["no", "yes", "no"]}, "y_true must hold numbers"),
        ({"y_true": [0, np.nan, 1]}, "y_true is nan in row 1"),
        ({"y_score": [0, 1, np.nan]}, "y_score is nan in row 2"),
        ({"qid": None}, "pass qid=.*enable_metadata_routing"),
        ({"qid": [2, 1]}, "qid must have one entry"),
        ({"qid": [1.0, np.nan, 2.0]}, "qid is missing"),
        ({"qid": np.array([1, np.nan, 2], dtype=object)}, "qid is missing"),
        ({"qid": pd.Series(["a", None, "b"])}, "qid mixes ids .* or misses some"),
        ({"qid": pd.Series([1, None, 2], dtype="Int64")}, "qid (is missing|.* misses some)"),
        ({"k": 0}, "k must be a whole number of ranks, at least 1, not 0"),
        ({"k": 2.0}, "k must be a whole number"),
        ({"k": None}, "k must be a whole number"),
        ({"k": True}, "k must be a whole number"),
        ({"empty": "zero"}, "empty must be 'skip' or a number between 0 and 1, not 'zero'"),
        ({"empty": 2}, "empty must be"),
        ({"empty": np.nan}, "empty must be"),
        ({"y_true": [0, 0, 0]}, "no query has a relevant document.*empty=0"),
        ({"y_true": [0, 0, 1], "sample_weight": [1, 1, 0]}, "no query has a relevant document"),
        ({"sample_weight": [1, 2, 3]}, "sample_weight differs between rows of query 1, .* row 0"),
        ({"sample_weight": [1, 1, -3]}, "sample_weight is negative in row 2"),
    ],
)
def test_bad_input_is_named(measure, change, message):
    measure(**GOOD)
    with pytest.raises(InvalidInputError, match=message):
        measure(**GOOD | change)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: average_precision_at(**GOOD, relevant=np.nan), "relevant must be a finite number"),
        (lambda: average_precision_at(**GOOD, relevant="good"), "relevant must be a finite number"),
        (lambda: average_precision_at(**GOOD, relevant=3), "no query has a relevant document"),
        (lambda: ndcg_at(**GOOD, gain="square"), "gain='square' is unknown; use 'exponential' or 'linear'"),
        (lambda: ndcg_at(**GOOD, gain=2), "gain=2 is unknown"),
        (lambda: ndcg_at([1, -1], [1, 2], [1, 1]), "y_true is -1.0 in row 1, but NDCG needs 0 or more"),
        (lambda: ndcg_at([1, -1], [1, 2], [1, 1], gain="linear"), "y_true is -1.0 in row 1"),
        (lambda: ndcg_at([2000, 1], [1, 2], [1, 1]), "y_true is up to 2000.0, and exponential gains"),
        (lambda: ndcg_at([1e308, 1e308], [1, 2], [1, 1], gain="linear"), "too large to add up"),
    ],
)
def test_bad_options_are_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
