"""Bearer tokens: their form, where they are given, and what changes while the service runs."""

from __future__ import annotations

import logging
import os
import time

import pytest

from budgetprune import InvalidInputError
from budgetprune.service import tokens
from budgetprune.service.errors import RefusedError
from budgetprune.service.tokens import Tokens

OLD, NEW = "old-token-of-2025-0001", "new/token+of~2026._-=="


def accepts(accepted: Tokens, *values: bytes) -> bool:
    headers = [(b"host", b"here"), *((b"authorization", value) for value in values)]
    try:
        accepted.check(headers)
    except RefusedError as error:
        refusal = error
    else:
        return True
    assert refusal.status == 401
    assert refusal.headers["www-authenticate"].startswith('Bearer realm="budgetprune"')
    return False


@pytest.mark.parametrize("token", [OLD, NEW])
def test_accepted(token):
    accepted = Tokens([OLD, NEW])
    for scheme in (b"Bearer ", b"bearer ", b"BEARER  "):
        assert accepts(accepted, scheme + token.encode())


@pytest.mark.parametrize(
    "values",
    [
        (),
        (b"",),
        (b"Bearer",),
        (b"Bearer ",),
        (OLD.encode(),),
        (b"Basic " + OLD.encode(),),
        (b"Bearer " + OLD.encode()[:-1],),
        (b"Bearer " + OLD.encode() + b"x",),
        (b"Bearer " + OLD.upper().encode(),),
        (b"Bearer " + OLD.encode() + b" " + NEW.encode(),),
        (b"Bearer " + OLD.encode() + b", Bearer " + OLD.encode(),),
        (b"Bearer " + OLD.encode(), b"Bearer " + OLD.encode()),
        (b"Bearer " + OLD.encode(), b"Bearer wrong"),
        (b"Bearer \xff" + OLD.encode(),),
        (b"Bearer " + b"x" * 10_000,),
        (b"Bearer" + OLD.encode(),),
    ],
)
def test_refused(values):
    assert not accepts(Tokens([OLD, NEW]), *values)


def test_each_token_has_its_own_identity():
    accepted = Tokens([OLD, NEW])
    found = {accepted.check([(b"authorization", f"Bearer {token}".encode())]) for token in (OLD, NEW, OLD)}
    assert len(found) == 2
    assert not any(token.encode() in each for token in (OLD, NEW) for each in found)


@pytest.mark.parametrize(
    "token",
    ["", "short", "x" * 15, "x" * 513, "with a space in it", "ümlaut-in-a-token", "=" * 20, 'quote"' * 4],
)
def test_invalid_tokens(token, tmp_path):
    with pytest.raises(InvalidInputError, match=r"token 2 is not a token: .*openssl rand -hex 32") as caught:
        Tokens([OLD, token])
    if len(token) > 5:
        assert token not in str(caught.value)
    if token:
        file = tmp_path / "tokens"
        file.write_text(f"# ours\n{OLD}\n\n{token}\n", encoding="utf-8")
        with pytest.raises(InvalidInputError, match=r"line 4 of .* is not a token"):
            Tokens(file=file)


def test_too_many_tokens():
    with pytest.raises(InvalidInputError, match="101 tokens; 100 are allowed"):
        Tokens(f"{OLD}-{k}" for k in range(101))


def test_files(tmp_path):
    file = tmp_path / "tokens"
    file.write_bytes(b"\xef\xbb\xbf# comment\r\n  " + OLD.encode() + b"  \r\n\r\n" + NEW.encode())
    accepted = Tokens(file=file)
    assert accepts(accepted, b"Bearer " + OLD.encode())
    assert accepts(accepted, b"Bearer " + NEW.encode())
    assert not accepts(accepted, b"Bearer # comment")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: .*No such file"),
        (b"", "has no tokens; write one per line"),
        (b"# all are gone\n\n", "has no tokens"),
        (b"\xff\xfe", "cannot be read"),
        (b"x" * 2**18 + b"y", "has more than 262144 bytes"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, content, words):
    file = tmp_path / "tokens"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=words):
        Tokens(file=file)


def test_no_regular_file(tmp_path):
    with pytest.raises(InvalidInputError, match="not a regular file"):
        Tokens(file=tmp_path)


def test_tokens_are_rotated(tmp_path, monkeypatch, caplog):
    """A file that changes is read again; one that becomes invalid changes nothing, and is logged once."""
    now = [100.0]
    monkeypatch.setattr(tokens, "monotonic", lambda: now[0])
    file = tmp_path / "tokens"

    def write(text: str) -> None:
        other = tmp_path / "other"
        other.write_text(text, encoding="utf-8")
        os.replace(other, file)
        now[0] += tokens.CHECK_EVERY

    write(OLD)
    accepted = Tokens(file=file)

    def both() -> tuple[bool, bool]:
        return accepts(accepted, b"Bearer " + OLD.encode()), accepts(accepted, b"Bearer " + NEW.encode())

    assert both() == (True, False)
    write(f"{OLD}\n{NEW}")
    assert both() == (True, True)
    write(NEW)
    assert both() == (False, True)
    with caplog.at_level(logging.WARNING, "uvicorn.error"):
        file.unlink()
        for _ in range(3):
            now[0] += tokens.CHECK_EVERY
            assert both() == (False, True)
        write("short")
        assert both() == (False, True)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert all("read before stay valid" in message for message in messages)
    assert "short" not in messages[1]
    write(OLD)
    assert both() == (True, False)


def test_the_file_is_not_read_for_each_request(tmp_path, monkeypatch):
    file = tmp_path / "tokens"
    file.write_text(OLD, encoding="utf-8")
    accepted = Tokens(file=file)
    assert accepts(accepted, b"Bearer " + OLD.encode())
    monkeypatch.setattr(tokens, "CHECK_EVERY", 1e9)
    accepted._next_check = time.monotonic() + 1e9
    file.unlink()
    assert accepts(accepted, b"Bearer " + OLD.encode())
