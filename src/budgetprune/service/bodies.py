"""Strict parsing of request bodies, within limits.

The predictor validates the names, types and ranges of values; this module checks the structure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from heapq import nsmallest
from typing import Any

import numpy as np
import orjson
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from budgetprune.costs import join_first
from budgetprune.service.errors import (
    BUSY,
    INVALID,
    NOT_JSON,
    TOO_LARGE,
    RefusedError,
)
from budgetprune.service.headers import check_body_headers, too_large
from budgetprune.service.json_sizes import WHITESPACE, measure_json
from budgetprune.utils.limits import Limits

Body = dict[str, Any]

# Lists and objects in a row: the row, values, known, acquired, unavailable.
CONTAINERS_OF_A_ROW = 5
_NO_ROWS = np.empty(0, dtype=np.int64)


class BodyMemory:
    """Bytes of all bodies that are being received or queued, up to a limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    def reserve(self, n_bytes: int) -> bool:
        """Count bytes if there is room for them; return whether there is."""
        if self.held + n_bytes > self._most:
            return False
        self.held += n_bytes
        return True

    def release(self, n_bytes: int) -> None:
        """Stop counting bytes."""
        self.held -= n_bytes


class BodyReader:
    """Receive bodies and limit their total memory."""

    def __init__(self, limits: Limits) -> None:
        self.memory = BodyMemory(limits.all_bodies)

    async def receive(self, scope: Scope, receive: Receive, limit: int) -> bytes:
        """Receive a body of at most `limit` bytes. It counts towards the total until `release`."""
        check_body_headers(scope["headers"], limit)
        parts: list[bytes] = []
        size = 0
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                part = message.get("body", b"")
                if size + len(part) > limit:
                    raise too_large(limit)
                if not self.memory.reserve(len(part)):
                    raise RefusedError(BUSY, "other requests take all memory for bodies; try again.", "body")
                size += len(part)
                if not message.get("more_body", False):
                    return b"".join([*parts, part]) if parts else part
                parts.append(part)
        except BaseException:
            self.memory.release(size)
            raise

    def release(self, raw: bytes) -> None:
        """Stop counting a received body."""
        self.memory.release(len(raw))


# --- From bytes to objects ----------------------------------------------------------------------------------


def parse(raw: bytes, limits: Limits, where: str = "body") -> Any:
    """Parse the body of a request about one example, or a line with one."""
    # Some of these may be in strings, but usually there are so few that no limit can be exceeded.
    if raw.count(b"{") + raw.count(b"[") > min(limits.depth, limits.containers):
        sizes = measure_json(raw, _NO_ROWS)
        _check_depth(sizes.depth, limits, where)
        _check_containers(sizes.containers, limits.containers, where)
    return _parse(raw, where)


def parse_rows(raw: bytes, limits: Limits) -> Iterator[Any]:
    """Parse a batch. The enclosing object is checked before the first row is parsed."""
    row_ends = np.empty(limits.batch_rows, dtype=np.int64)
    sizes = measure_json(raw, row_ends)
    _check_depth(sizes.depth, limits)
    if not sizes.is_closed:
        raise RefusedError(
            NOT_JSON, "the body is not valid JSON: a string, list or object is not closed.", "body"
        )
    are_too_many = sizes.n_rows > limits.batch_rows
    if not are_too_many:
        _check_containers(sizes.containers, limits.containers + CONTAINERS_OF_A_ROW * sizes.n_rows)
    begin, end = sizes.rows or (len(raw), len(raw))
    around = (raw[:begin] + raw[end:]).strip(WHITESPACE)
    if len(around) <= limits.body:
        body = as_object(_parse(around, "body"), "body")
        check_fields(body, frozenset({"rows"}), "rows", "body")
        if type(body["rows"]) is not list:
            raise RefusedError(INVALID, "rows must be a list.", "body.rows")
    elif not are_too_many:
        message = f"the body has more than {limits.body} bytes beside its rows, which is the limit."
        raise RefusedError(TOO_LARGE, message, "body")
    if are_too_many:
        message = f"there are {sizes.n_rows} rows, but a batch may have {limits.batch_rows} at most."
        raise RefusedError(INVALID, message, "body.rows")
    return _rows(raw, begin, row_ends[: sizes.n_rows].tolist(), limits)


def _rows(raw: bytes, begin: int, ends: list[int], limits: Limits) -> Iterator[Any]:
    for i, end in enumerate(ends):
        if end - begin > limits.body:
            message = f"rows[{i}] has more than {limits.body} bytes, which is the limit."
            raise RefusedError(TOO_LARGE, message, f"rows[{i}]")
        yield _parse(raw[begin:end], f"rows[{i}]")
        begin = end + 1


def _parse(raw: bytes, where: str) -> Any:
    try:
        # The parser rejects NaN, infinity and numbers that overflow.
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise RefusedError(NOT_JSON, f"{_the(where)} is not valid JSON: {error}.", where) from None
    # Strings may contain colons as well, but then there are more than keys.
    if raw.count(b":") > _count_keys(parsed):
        _refuse_duplicates(raw, where)
    return parsed


def _count_keys(value: Any) -> int:
    """Count the keys of all objects in a parsed value."""
    n, ahead = 0, [value]
    while ahead:
        each = ahead.pop()
        if type(each) is dict:
            n += len(each)
            each = each.values()
        elif type(each) is not list:
            continue
        ahead += [part for part in each if type(part) is dict or type(part) is list]
    return n


def _refuse_duplicates(raw: bytes, where: str) -> None:
    """Raise if an object has a key twice; parsers would keep one of the values without a word."""

    def check(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                message = f"{_the(where)} has the key {key!r} more than once in one object; give one value."
                raise RefusedError(INVALID, message, where)
            seen.add(key)

    json.loads(raw, object_pairs_hook=check, parse_int=str, parse_float=str)


def _the(where: str) -> str:
    return "the body" if where == "body" else where


def _check_depth(depth: int, limits: Limits, where: str = "body") -> None:
    if depth > limits.depth:
        message = f"{_the(where)} is nested to a depth of {depth}; the limit is {limits.depth}."
        raise RefusedError(NOT_JSON, message, where)


def _check_containers(n: int, limit: int, where: str = "body") -> None:
    if n > limit:
        message = f"{_the(where)} has {n} lists and objects; the limit for it is {limit}."
        raise RefusedError(TOO_LARGE, message, where)


# --- Fields of a body ---------------------------------------------------------------------------------------
# Only flat values reach the predictor. Its messages include values, and Python cannot format a thousand
# nested lists.


def as_object(value: Any, where: str) -> Body:
    """Require an object."""
    if type(value) is not dict:
        raise RefusedError(INVALID, f"{where} must be an object, not {_kind(value)}.", where)
    return value


def check_fields(body: Body, fields: frozenset[str], required: str, where: str) -> None:
    """Require one field and reject unknown fields."""
    if not body.keys() <= fields:
        names = body.keys() - fields
        unknown = join_first(map(repr, nsmallest(5, names)))
        if len(names) > 5:
            unknown = f"{unknown} and {len(names) - 5} more"
        known = ", ".join(sorted(fields))
        raise RefusedError(INVALID, f"{where} has unknown fields: {unknown}; it may have {known}.", where)
    if required not in body:
        raise RefusedError(INVALID, f"{where} must have the field {required!r}.", where)


def values_of(body: Body, field: str, where: str) -> Body | None:
    """Return a field's values by feature, or None if absent. The predictor validates the values."""
    found = body.get(field)
    if found is None and field != "values":
        return None
    where = f"{where}.{field}"
    values = as_object(found, where)
    if not _SCALARS.issuperset(map(type, values.values())):
        name, value = next((n, v) for n, v in values.items() if type(v) not in _SCALARS)
        message = f"the value of {name!r} must be a number or a string, not {_kind(value)}."
        raise RefusedError(INVALID, message, where)
    return values


def sources_of(body: Body, field: str, where: str, most: int) -> list[str]:
    """Return the source names in an optional field, at most `most`."""
    found = body.get(field)
    if found is None:
        return []
    if type(found) is list and len(found) > most:
        message = f"{field} has {len(found)} names, but there are only {most} sources; name each once."
        raise RefusedError(INVALID, message, f"{where}.{field}")
    if type(found) is not list or not _TEXT.issuperset(map(type, found)):
        raise RefusedError(INVALID, f"{field} must be a list of names of sources.", f"{where}.{field}")
    return found


def cost_limit_of(body: Body, where: str) -> float | None:
    """Return the optional field `max_cost`."""
    found = body.get("max_cost")
    if found is None:
        return None
    if type(found) not in NUMBERS:
        raise RefusedError(INVALID, f"max_cost must be a number, not {_kind(found)}.", f"{where}.max_cost")
    return float(found)


NUMBERS = frozenset({int, float})
_TEXT = frozenset({str})
_SCALARS = NUMBERS | {str, bool, type(None)}
_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "a number")
