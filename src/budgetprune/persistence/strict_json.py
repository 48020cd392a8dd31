"""Strict JSON for headers of untrusted files."""

from __future__ import annotations

import json
import math
import reprlib
from typing import Any, NoReturn

import numpy as np

from budgetprune.errors import InvalidInputError

# Python's parser is recursive; our headers have four levels.
_DEEPEST = 8
# Digits that suffice for every 64-bit number; conversion of longer ones takes more than linear time.
_LONGEST_INTEGER, _LONGEST_FLOAT = 20, 40


def write_json(value: Any) -> bytes:
    """Convert plain values to JSON text that `read_json` restores exactly, or raise InvalidInputError."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=np.generic.item
        ).encode()
        read_json(text)
    except (ValueError, TypeError) as error:  # InvalidInputError is a ValueError
        raise InvalidInputError(
            "names, categories and options can be saved if they are strings, finite numbers of up to 64 "
            "bits, bool or None ({error})."
        ) from error
    return text


def read_json(text: bytes) -> Any:
    """Parse JSON; raise for NaN, infinities, repeated keys, long numbers, deep nesting and invalid text."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise InvalidInputError("its header is not valid UTF-8.") from None
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
        # Escapes can spell lone surrogates, which cannot be written to files, terminals or logs.
        if "\\u" in decoded:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"its header is not strict JSON: {error}.") from None
    return value


def _depth(text: bytes) -> int:
    """Upper bound of the nesting depth of lists and mappings, found without recursion."""
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
    raise InvalidInputError(f"{name} is not a number in JSON")
