"""ASGI middleware: the check of hosts, and the count of requests."""

from __future__ import annotations

from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from budgetprune.service.errors import BAD_REQUEST, MISDIRECTED, refusal
from budgetprune.service.hosts import Hosts
from budgetprune.service.metrics import Metrics


class CheckHost:
    """Middleware that rejects requests for other hosts."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            found = [value for name, value in scope["headers"] if name == b"host"]
            # HTTP/1.0 has no Host header, and browsers do not use it.
            if len(found) != 1 and (found or scope["http_version"] != "1.0"):
                message = "a request must have one Host header."
                await refusal(BAD_REQUEST, message, "host")(scope, receive, send)
                return
            if found and not self._hosts.allows(found[0]):
                await refusal(MISDIRECTED, _message(found[0]), "host")(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _message(header: bytes) -> str:
    host = header.decode("latin-1")
    return (
        f"the service does not answer for the host {host!r}. If clients should call it by that name, start "
        "it with: --allowed-hosts NAME (without the port; repeat it for more names; '*' allows all)."
    )


class CountRequests:
    """Middleware that records the time and status of every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500  # if no response is sent

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        start = perf_counter()
        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.count_request(scope["path"], status, perf_counter() - start)
