"""Lines of data in any parts, and their memory."""

from __future__ import annotations

import random

import pytest

from budgetprune.service.bodies import BodyMemory
from budgetprune.service.errors import RefusedError
from budgetprune.service.lines import LineSplitter

LIMIT = 20


def split(parts: list[bytes], memory: BodyMemory) -> list[tuple[int, bytes | int]]:
    """Return lines with their numbers; instead of a line that is refused, its status."""
    lines = LineSplitter(LIMIT, memory)
    found: list[tuple[int, bytes | int]] = []

    def take_all() -> None:
        while (line := lines.next_line()) is not None:
            found.append((lines.number, line.status if isinstance(line, RefusedError) else line))
            assert memory.held <= LIMIT

    for part in parts:
        lines.feed(part)
        take_all()
        assert memory.held <= LIMIT
    lines.end()
    take_all()
    assert memory.held == 0
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"\n", [b""]),
        (b"a\n\nb", [b"a", b"", b"b"]),
        (b"a\r\nb\r\n", [b"a\r", b"b\r"]),
        (b"x" * LIMIT + b"\ny", [b"x" * LIMIT, b"y"]),
        (b"x" * (LIMIT + 1) + b"\ny", [413, b"y"]),
        (b"x" * 1000, [413]),
        (b"x" * 1000 + b"\n" + b"y" * 1000 + b"\n\nz\n", [413, 413, b"", b"z"]),
    ],
)
def test_lines(text, expected):
    whole = split([text], BodyMemory(10**6))
    assert whole == list(enumerate(expected, start=1))
    assert split([text[i : i + 1] for i in range(len(text))], BodyMemory(10**6)) == whole


def test_lines_in_any_parts():
    r = random.Random(0)
    for _ in range(300):
        texts = [b"x" * r.choice([0, 1, 5, LIMIT - 1, LIMIT, LIMIT + 1, 100]) for _ in range(r.randrange(8))]
        text = b"\n".join(texts)
        at = sorted(r.randrange(len(text) + 1) for _ in range(r.randrange(10)))
        parts = [text[i:j] for i, j in zip([0, *at], [*at, len(text)], strict=True)]
        expected = text.split(b"\n")
        if expected[-1] == b"":
            expected.pop()
        shown = [413 if len(line) > LIMIT else line for line in expected]
        assert [line for _, line in split(parts, BodyMemory(10**6))] == shown


def test_memory_that_others_take():
    memory = BodyMemory(30)
    assert memory.reserve(25)
    lines = LineSplitter(LIMIT, memory)
    lines.feed(b"12345")
    assert lines.next_line() is None
    lines.feed(b"6\n7\n8")
    found = [lines.next_line() for _ in range(3)]
    assert isinstance(found[0], RefusedError)
    assert found[0].status == 503
    assert found[1:] == [b"7", None]
    assert memory.held == 26
    lines.close()
    assert memory.held == 25


def test_a_line_that_never_ends_takes_no_memory():
    memory = BodyMemory(10**6)
    lines = LineSplitter(LIMIT, memory)
    for _ in range(1000):
        lines.feed(b"x" * 1000)
        assert lines.next_line() is None
        assert memory.held <= LIMIT
    lines.feed(b"\nok\n")
    found = lines.next_line()
    assert isinstance(found, RefusedError)
    assert (found.status, lines.number) == (413, 1)
    assert lines.next_line() == b"ok"
