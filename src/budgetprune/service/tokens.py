"""Bearer tokens (RFC 6750) that clients must send."""

from __future__ import annotations

import hmac
import logging
import os
import re
import stat
from collections.abc import Iterable
from hashlib import sha256
from time import monotonic

from budgetprune.errors import InvalidInputError
from budgetprune.service.errors import UNAUTHORIZED, RefusedError
from budgetprune.service.headers import Headers

# Characters of a token, and how many tokens there may be.
SHORTEST, LONGEST, MOST_TOKENS = 16, 512, 100
# Bytes of a token file, and seconds between two checks whether it has changed.
LARGEST_FILE, CHECK_EVERY = 2**18, 1.0

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_BEARER = re.compile(rb"bearer +(\S+)", flags=re.IGNORECASE)
_CHALLENGE = 'Bearer realm="budgetprune"'

_log = logging.getLogger("uvicorn.error")


class Tokens:
    """Accepted tokens, given directly or in a file that may change.

    Only hashes are kept and compared: all of them, each in constant time, so the time of a check tells
    nothing about a token.

    Parameters
    ----------
    tokens : iterable of str
    file : path, optional
        Text file with one token per line, read again when it changes. Empty lines and lines that begin with
        ``#`` are ignored.

    Raises
    ------
    InvalidInputError
        If a token is invalid, or the file cannot be read.
    """

    def __init__(self, tokens: Iterable[str] = (), file: str | os.PathLike[str] | None = None) -> None:
        self._file, self._seen, self._next_check = file, (0, 0, 0), 0.0
        self._problem = ""
        self._hashes = _hash_all((f"token {i}", token) for i, token in enumerate(tokens, start=1))
        if file is not None:
            self._read()

    def check(self, headers: Headers) -> bytes:
        """Return the hash of the token that a request has.

        Raises
        ------
        RefusedError
            If it has none, or one that is not accepted (401).
        """
        if self._file is not None and monotonic() >= self._next_check:
            self._read_again()
        found = [value for name, value in headers if name == b"authorization"]
        if not found:
            raise _refused("this service needs a token: send the header Authorization: Bearer TOKEN.")
        match = _BEARER.fullmatch(found[0])
        if len(found) > 1 or match is None:
            raise _refused(
                "the header Authorization must be given once, as: Bearer TOKEN.", 'error="invalid_request"'
            )
        given = sha256(match[1]).digest()
        is_known = False
        for known in self._hashes:
            is_known |= hmac.compare_digest(given, known)
        if not is_known:
            raise _refused("this token is not accepted.", 'error="invalid_token"')
        return given

    def _read(self) -> None:
        assert self._file is not None
        self._next_check = monotonic() + CHECK_EVERY
        seen = _version_of(self._file)
        if seen != self._seen:
            self._hashes = _hash_all(_lines_of(self._file))
            self._seen = seen

    def _read_again(self) -> None:
        problem = ""
        try:
            self._read()
        except InvalidInputError as error:
            problem = str(error)
            if problem != self._problem:
                _log.warning("The tokens that were read before stay valid: %s", problem)
        self._problem = problem


def _refused(message: str, details: str = "") -> RefusedError:
    challenge = f"{_CHALLENGE}, {details}" if details else _CHALLENGE
    return RefusedError(UNAUTHORIZED, message, "authorization", {"www-authenticate": challenge})


def _version_of(file: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Return what changes when a file is written or replaced."""
    try:
        found = os.stat(file)
    except OSError as error:
        raise InvalidInputError(f"the token file {os.fspath(file)} cannot be read: {error}.") from None
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInputError(
            f"the token file {os.fspath(file)} is not a regular file; it is read again when it changes."
        )
    return found.st_mtime_ns, found.st_size, found.st_ino


def _lines_of(file: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Return the tokens of a file and their places, for messages."""
    name = os.fspath(file)
    try:
        with open(file, "rb") as handle:
            raw = handle.read(LARGEST_FILE + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"the token file {name} cannot be read: {error}.") from None
    if len(raw) > LARGEST_FILE:
        raise InvalidInputError(f"the token file {name} has more than {LARGEST_FILE} bytes.")
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), start=1)]
    found = [(f"line {i} of {name}", line) for i, line in lines if line and not line.startswith("#")]
    if not found:
        raise InvalidInputError(f"the token file {name} has no tokens; write one per line.")
    return found


def _hash_all(tokens: Iterable[tuple[str, str]]) -> list[bytes]:
    """Hash tokens. Messages name the place of a token, never the token."""
    hashes = []
    for where, token in tokens:
        if not isinstance(token, str) or not SHORTEST <= len(token) <= LONGEST or not _TOKEN.fullmatch(token):
            raise InvalidInputError(
                f"{where} is not a token: it must have {SHORTEST} to {LONGEST} letters, digits and -._~+/ "
                "without spaces, for example what this prints: openssl rand -hex 32."
            )
        hashes.append(sha256(token.encode()).digest())
    if len(hashes) > MOST_TOKENS:
        raise InvalidInputError(f"there are {len(hashes)} tokens; {MOST_TOKENS} are allowed.")
    return hashes
