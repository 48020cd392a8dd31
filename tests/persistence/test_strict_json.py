"""JSON that is read strictly."""

from __future__ import annotations

import json

import pytest

from budgetprune import InvalidInputError
from budgetprune.persistence.strict_json import read_json


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": 1e999}', "64-bit float"),
        (b'{"a": 1, "a": 2}', "occurs twice"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 9 + b"1" + b"}" * 9, "nested"),
        (b"1" * 5000, "64 bits"),
        (b"18446744073709551616", "64 bits"),
        (b"0." + b"1" * 5000, "64-bit float"),
        (b'"\\ud800"', "surrogates"),
        (b'"\xff"', "UTF-8"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"", "Expecting value"),
        (b"{} {}", "Extra data"),
    ],
)
def test_strict_json(text, words):
    with pytest.raises(InvalidInputError, match=words):
        read_json(text)


def test_brackets_in_text_are_no_nests():
    for text in ("[" * 50, '"[[[[[[[[[[', "\\[[[[[[[[[", "\\\\[[[[[[[[[[["):
        assert read_json(json.dumps({text: [text]}).encode()) == {text: [text]}
