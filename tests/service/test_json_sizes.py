"""Sizes and rows of JSON are found without parsing it, and rows are what a parser finds."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from budgetprune.service import Limits
from budgetprune.service.bodies import parse, parse_rows
from budgetprune.service.errors import RefusedError
from budgetprune.service.json_sizes import measure_json

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text('"\\[]{},: aé', max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)
SPACES = st.sampled_from(["", " ", "\n\t\r "])
LIMITS = Limits()
SETTINGS = settings(max_examples=100, deadline=None, derandomize=True, database=None)


def depth(value) -> int:
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def containers(value) -> int:
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else None
    return 0 if inner is None else 1 + sum(map(containers, inner))


def write(value, space: str, *, is_ascii: bool) -> bytes:
    separators = (f"{space},{space}", f"{space}:{space}")
    text = json.dumps(value, separators=separators, ensure_ascii=is_ascii)
    return f"{space}{text}{space}".encode()


@pytest.mark.uncompiled
@SETTINGS
@given(VALUES, SPACES, st.booleans())
def test_sizes(value, space, is_ascii):
    raw = write(value, space, is_ascii=is_ascii)
    sizes = measure_json(raw, np.empty(0, dtype=np.int64))
    assert (sizes.depth, sizes.containers, sizes.is_closed) == (depth(value), containers(value), True)
    for cut in range(1, len(raw)):
        part = measure_json(raw[:cut], np.empty(0, dtype=np.int64))
        assert part.depth <= sizes.depth
        assert part.containers <= sizes.containers


@SETTINGS
@given(st.lists(VALUES, max_size=6), SPACES, st.booleans())
@example([], " ", True)
@example([[], {}], "", True)
@example([None], "\n\t\r ", False)
def test_rows(rows, space, is_ascii):
    raw = write({"rows": rows}, space, is_ascii=is_ascii)
    assert list(parse_rows(raw, LIMITS)) == rows == orjson.loads(raw)["rows"]


@SETTINGS
@given(VALUES, st.binary(max_size=3), st.randoms(use_true_random=False))
def test_broken_batches_are_refused_exactly_if_they_are_broken(value, noise, random):
    """Whatever a parser makes of the whole text, the rows of it are the same."""
    raw = bytearray(write({"rows": value}, "", is_ascii=False))
    place = random.randrange(len(raw) + 1)
    raw[place : place + random.randrange(3)] = noise
    try:
        expected = orjson.loads(bytes(raw))["rows"]
        assert orjson.loads(bytes(raw)).keys() == {"rows"}
        assert type(expected) is list
    except (orjson.JSONDecodeError, KeyError, TypeError, AssertionError):
        with pytest.raises(RefusedError):
            list(parse_rows(bytes(raw), LIMITS))
    else:
        assert list(parse_rows(bytes(raw), LIMITS)) == expected


def test_names_may_be_escaped():
    assert list(parse_rows(b'{"r\\u006fws":[3]}', LIMITS)) == [3]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b'{"rows":[1],"rows":2}', 422),
        (b'{"rows":[1,2],"rows":[3]}', 422),
        (b'{"rows":{"a":[1]},"rows":[3]}', 422),
        (b'{"rows":[1],"x":[2]}', 422),
        (b'{"x":[2]}', 422),
        (b"[[1]]", 422),
        (b'{"rows":[1,]}', 400),
        (b'{"rows":[,1]}', 400),
        (b'{"rows":[1}]', 400),
        (b'{"rows":[1]}]', 400),
        (b'{"rows":[1]}{"rows":[1]}', 400),
        (b'{"rows":[\x0c]}', 400),
        (b'{"rows":[1', 400),
        (b'{"rows":["1]}', 400),
        (b"", 400),
        (b'{"rows":[{}],"rows":[' + b"[]," * 2000 + b"1]}", 422),
        (b'{"rows":[' + b"[]," * 2000 + b'1],"rows":[]}', 413),
        (b'{"rows":[[' + b"[]," * 2000 + b"1]]}", 413),
        (b'{"rows":["' + b"x" * LIMITS.body + b'"]}', 413),
        (b'{"rows":[],"' + b"x" * LIMITS.body + b'":1}', 413),
        (b'{"rows":[' + b"[" * 31 + b"]" * 31 + b"]}", 400),
    ],
)
def test_refusals(raw, status):
    with pytest.raises(RefusedError) as refusal:
        list(parse_rows(raw, LIMITS))
    assert refusal.value.status == status


def test_a_body_about_one_example():
    assert parse(b'{"values": {"[": "]"}}', LIMITS) == {"values": {"[": "]"}}
    for raw, status in ((b"[" * 33, 400), (b"[" + b"[]," * 1000 + b"[]]", 413), (b"[", 400)):
        with pytest.raises(RefusedError) as refusal:
            parse(raw, LIMITS)
        assert refusal.value.status == status


def test_ends_of_rows_are_written_as_far_as_there_is_room():
    ends = np.full(4, -1, dtype=np.int64)
    raw = b'{"rows": [10, "a,]", {"b": [1, 2]}]}'
    sizes = measure_json(raw, ends)
    assert (sizes.n_rows, ends[3]) == (3, -1)
    assert sizes.rows is not None
    places = [sizes.rows[0] - 1, *ends[:3].tolist()]
    assert [raw[a + 1 : b].strip() for a, b in pairwise(places)] == [b"10", b'"a,]"', b'{"b": [1, 2]}']
    assert measure_json(raw, ends[:1]).n_rows == 3
