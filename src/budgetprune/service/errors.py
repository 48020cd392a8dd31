"""Refusals: one shape for all of them, whoever refuses."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

JSON = "application/json"

# Names of these have changed between versions of Python.
NOT_JSON, TOO_LARGE, WRONG_TYPE, INVALID = 400, 413, 415, 422
BAD_REQUEST, TOO_LATE, MISDIRECTED, LARGE_HEADERS, BUSY = 400, 408, 421, 431, 503
LONGEST_MESSAGE = 2000
RETRY = {"retry-after": "1"}


class RefusedError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        An HTTP status: 4xx, or 503 if the same request may be answered later.
    message : str
        What is wrong, and what to do.
    where : str, optional
        The part of the request, if it is known.
    """

    def __init__(self, status: int, message: str, where: str | None = None) -> None:
        super().__init__(message)
        self.status, self.where = status, where


def refuse_in_one_shape(app: FastAPI) -> None:
    """Answer every error of an app, its router's included, with the same kind of body."""

    async def refused(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return refusal(error.status, str(error), error.where, RETRY if error.status == BUSY else None)

    async def by_router(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        where = f"{request.method} {request.url.path}"
        return refusal(error.status_code, f"{error.detail}; see /openapi.json.", where, error.headers)

    async def gone(_request: Request, _error: Exception) -> Response:
        # The client has gone, or the server has answered already. Neither is an error for the log.
        return refusal(NOT_JSON, "the request ended too early.", "body")

    async def broken(_request: Request, _error: Exception) -> Response:
        return refusal(500, "an error of the service itself; its log says more.")

    app.add_exception_handler(RefusedError, refused)
    app.add_exception_handler(HTTPException, by_router)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, broken)


def refusal(
    status: int, message: str, where: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """Build the response that refuses a request."""
    return Response(error_body(message, where), status, headers, media_type=JSON)


def error_body(message: str, where: str | None = None) -> bytes:
    """Describe an error as JSON."""
    error = {"message": _fit(message), "where": None if where is None else _fit(where)}
    return orjson.dumps({"error": error})


def _fit(text: str) -> str:
    """Text that is not endless and that UTF-8 can hold: names come from requests, and paths are any bytes."""
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[:LONGEST_MESSAGE]}..."
    return text.encode("utf-8", "replace").decode()
