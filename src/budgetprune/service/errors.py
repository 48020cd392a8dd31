"""Errors of requests."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

JSON = "application/json"

# Numbers, because the names in `http` differ between versions of Python.
OK = 200
NOT_JSON, TOO_LARGE, WRONG_TYPE, INVALID = 400, 413, 415, 422
BAD_REQUEST, TOO_LATE, MISDIRECTED, LARGE_HEADERS, BUSY = 400, 408, 421, 431, 503
UNAUTHORIZED, TOO_MANY, OLD_HTTP = 401, 429, 505
LONGEST_MESSAGE = 2000
RETRY = {"retry-after": "1"}


class RefusedError(Exception):
    """Raised for a request that cannot be answered.

    Parameters
    ----------
    status : int
        HTTP status: 4xx, or 503 if the request may be retried later.
    message : str
        The error and how to fix it.
    where : str, optional
        Part of the request that is wrong, if known.
    headers : mapping, optional
        Headers of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        where: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.where = status, where
        self.headers = headers or (RETRY if status == BUSY else None)


def error_body(message: str, where: str | None = None) -> bytes:
    """Describe an error as JSON."""
    error = {"message": _fit(message), "where": None if where is None else _fit(where)}
    return orjson.dumps({"error": error})


def _fit(text: str) -> str:
    """Truncate text and replace what UTF-8 cannot encode; names and paths come from requests."""
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[:LONGEST_MESSAGE]}..."
    return text.encode("utf-8", "replace").decode()
