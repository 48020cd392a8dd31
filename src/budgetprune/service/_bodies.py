"""From the bytes of a request to what a predictor takes: strictly, and within limits.

Names, types and sizes of values are the predictor's business; here is what comes before.
"""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request

from budgetprune._price_lists import listed
from budgetprune.service._errors import INVALID, JSON, NOT_JSON, TOO_LARGE, WRONG_TYPE, RefusedError

Body = dict[str, Any]


async def read_json(request: Request, limit: int) -> Body:
    """Read the JSON object that a request has for a body, of at most `limit` bytes."""
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != JSON:
        raise RefusedError(
            WRONG_TYPE, f"the body must be JSON: send it with Content-Type: {JSON}.", "content-type"
        )
    raw = await _read(request, limit)
    try:
        # The parser knows no NaN, no infinity, no number that would become one, and no bottomless nests.
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise RefusedError(NOT_JSON, f"the body is no JSON: {error}.", "body") from None
    return as_object(body, "body")


async def _read(request: Request, limit: int) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return b"".join([*parts, part]) if parts else part
        parts.append(part)


def _too_large(limit: int) -> RefusedError:
    return RefusedError(TOO_LARGE, f"the body has more than {limit} bytes, which is the limit.", "body")


# --- What is in a body --------------------------------------------------------------------------------------
# All is flat before the predictor sees it: its messages show values, and Python cannot show a nest of a
# thousand lists.


def as_object(value: Any, where: str) -> Body:
    """Require an object."""
    if type(value) is not dict:
        raise RefusedError(INVALID, f"{where} must be an object, not {_kind(value)}.", where)
    return value


def check_fields(body: Body, fields: frozenset[str], required: str, where: str) -> None:
    """Require a field, and refuse those that nobody knows."""
    if not body.keys() <= fields:
        unknown = listed(map(repr, sorted(body.keys() - fields)))
        known = ", ".join(sorted(fields))
        raise RefusedError(INVALID, f"{where} has unknown fields: {unknown}; it may have {known}.", where)
    if required not in body:
        raise RefusedError(INVALID, f"{where} must have the field {required!r}.", where)


def values_of(body: Body, field: str, where: str) -> Body | None:
    """Values by feature, if the field is there; what they are worth is for the predictor to say."""
    found = body.get(field)
    if found is None and field != "values":
        return None
    where = f"{where}.{field}"
    values = as_object(found, where)
    if not _SCALARS.issuperset(map(type, values.values())):
        name, value = next((n, v) for n, v in values.items() if type(v) not in _SCALARS)
        message = f"the value of {name!r} must be a number or a text, not {_kind(value)}."
        raise RefusedError(INVALID, message, where)
    return values


def sources_of(body: Body, field: str, where: str) -> list[str]:
    """Names in a field that may be absent."""
    found = body.get(field)
    if found is None:
        return []
    if type(found) is not list or not _TEXT.issuperset(map(type, found)):
        raise RefusedError(INVALID, f"{field} must be a list of names of sources.", f"{where}.{field}")
    return found


def money_of(body: Body, where: str) -> float | None:
    """The field `max_cost`, which may be absent."""
    found = body.get("max_cost")
    if found is None:
        return None
    if type(found) not in NUMBERS:
        raise RefusedError(INVALID, f"max_cost must be a number, not {_kind(found)}.", f"{where}.max_cost")
    return float(found)


NUMBERS = frozenset({int, float})
_TEXT = frozenset({str})
_SCALARS = NUMBERS | {str, bool, type(None)}
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "a number")
