"""JSON without its loose ends, for headers of files that nobody vouches for."""

from __future__ import annotations

import json
import math
import reprlib
from typing import Any, NoReturn

import numpy as np

from budgetprune.errors import InvalidInputError

# Python's parser calls itself for every level; what is ours has four.
_DEEPEST = 8
# Enough for every 64-bit number; converting longer texts takes time that grows faster than they do.
_LONGEST_INTEGER, _LONGEST_FLOAT = 20, 40


def write_json(value: Any) -> bytes:
    """Turn plain values into JSON text that `read_json` gives back as they were, or refuse them."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=np.generic.item
        ).encode()
        read_json(text)
    except (ValueError, TypeError) as error:  # InvalidInputError is a ValueError
        raise InvalidInputError(
            "names, categories and options can be saved if they are plain text, finite numbers of up to 64 "
            f"bits, truth values or None ({error})."
        ) from error
    return text


def read_json(text: bytes) -> Any:
    """Parse JSON; refuse NaN, infinities, repeated keys, endless numbers, deep nests and broken text."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise InvalidInputError("its header is no text in UTF-8.") from None
    try:
        if _depth(text) > _DEEPEST:
            raise InvalidInputError(f"lists are nested more than {_DEEPEST} deep")
        value = json.loads(
            decoded,
            object_pairs_hook=_distinct,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_refuse_constant,
        )
        # Escapes can spell halves of characters, which no file, terminal or log could take.
        if "\\u" in decoded:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"its header is no JSON of the strict kind: {error}.") from None
    return value


def _depth(text: bytes) -> int:
    """How deep lists and mappings are nested, at most: found without nesting anything."""
    outside = b"".join(text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    character = np.frombuffer(outside, dtype=np.uint8)
    opens, closes = (
        np.isin(character, np.frombuffer(brackets, dtype=np.uint8)) for brackets in (b"[{", b"]}")
    )
    return int(np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int32).max(initial=0))


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInputError("a key occurs twice")
    return found


def _integer(digits: str) -> int:
    number = int(digits) if len(digits) <= _LONGEST_INTEGER else 2**64
    if not -(2**63) <= number < 2**64:
        raise InvalidInputError(f"the number {reprlib.repr(digits)} needs more than 64 bits")
    return number


def _float(digits: str) -> float:
    number = float(digits) if len(digits) <= _LONGEST_FLOAT else math.nan
    if not math.isfinite(number):
        raise InvalidInputError(f"the number {reprlib.repr(digits)} does not fit a 64-bit float")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInputError(f"{name} is no number that JSON has")
