"""Error responses, all with the same JSON body."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

JSON = "application/json"

# Numbers, because the names in `http` differ between versions of Python.
OK = 200
NOT_JSON, TOO_LARGE, WRONG_TYPE, INVALID = 400, 413, 415, 422
BAD_REQUEST, TOO_LATE, MISDIRECTED, LARGE_HEADERS, BUSY = 400, 408, 421, 431, 503
UNAUTHORIZED, TOO_MANY = 401, 429
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


# Errors of requests, not of the service.
EXPECTED = (RefusedError, ClientDisconnect)


def response_to(error: RefusedError | ClientDisconnect) -> Response:
    """Build the response to a request that cannot be answered."""
    if isinstance(error, RefusedError):
        return refusal(error.status, str(error), error.where, error.headers)
    # The client has disconnected, or the server has already answered. Neither is logged.
    return refusal(NOT_JSON, "the request ended too early.", "body")


def refuse_in_one_shape(app: FastAPI) -> None:
    """Return the same JSON body for every error of an app, including the router's."""

    async def refused(_request: Request, error: Exception) -> Response:
        assert isinstance(error, EXPECTED)
        return response_to(error)

    async def by_router(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        where = f"{request.method} {request.url.path}"
        return refusal(error.status_code, f"{error.detail}; see /openapi.json.", where, error.headers)

    async def broken(_request: Request, _error: Exception) -> Response:
        return refusal(500, "internal error; see the log of the service.")

    for expected in EXPECTED:
        app.add_exception_handler(expected, refused)
    app.add_exception_handler(HTTPException, by_router)
    app.add_exception_handler(Exception, broken)


def refusal(
    status: int, message: str, where: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Build an error response."""
    return Response(error_body(message, where), status, headers, media_type=JSON)


def error_body(message: str, where: str | None = None) -> bytes:
    """Describe an error as JSON."""
    error = {"message": _fit(message), "where": None if where is None else _fit(where)}
    return orjson.dumps({"error": error})


def _fit(text: str) -> str:
    """Truncate text and replace what UTF-8 cannot encode; names and paths come from requests."""
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[:LONGEST_MESSAGE]}..."
    return text.encode("utf-8", "replace").decode()
