"""Error responses of the app, all with the same JSON body."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from budgetprune.service.errors import JSON, NOT_JSON, RefusedError, error_body

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
