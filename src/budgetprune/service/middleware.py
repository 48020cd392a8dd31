"""ASGI middleware of the app."""

from __future__ import annotations

from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from budgetprune.service.decisions import Decisions
from budgetprune.service.error_responses import EXPECTED, response_to
from budgetprune.service.errors import JSON, OK
from budgetprune.service.gate import Gate
from budgetprune.service.headers import check_host
from budgetprune.service.hosts import Hosts
from budgetprune.service.metrics import Metrics

_CONTENT_TYPE = (b"content-type", JSON.encode())


class AnswerDirectly:
    """Count requests, admit them or not, and answer those for decisions before FastAPI routes them.

    FastAPI's and Starlette's routing, and their objects for requests and responses, take as long as a small
    decision. Their paths are routes of the app too, for its OpenAPI document, for other methods, and
    for apps that mount it.

    Parameters
    ----------
    app : ASGI app
        Answers all other requests.
    decisions : Decisions
    metrics : Metrics
    hosts : Hosts, optional
        Accepted ``Host`` headers. None accepts all.
    gate : Gate, optional
        Checks of tokens and limits. None admits all.
    """

    def __init__(
        self,
        app: ASGIApp,
        decisions: Decisions,
        metrics: Metrics,
        hosts: Hosts | None = None,
        gate: Gate | None = None,
    ) -> None:
        self._app, self._decisions, self._metrics = app, decisions, metrics
        self._hosts, self._gate = hosts, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, path = perf_counter(), scope["path"]
        status = 500  # if no response is sent

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if self._hosts is not None:
                check_host(scope["headers"], scope["http_version"], self._hosts)
            if self._gate is not None:
                self._gate.admit(path, (scope.get("client") or ("",))[0], scope["headers"])
            if scope["method"] != "POST" or path not in self._decisions.paths:
                await self._app(scope, receive, noting)
                return
            content = await self._decisions(path, scope, receive)
            headers = [(b"content-length", b"%d" % len(content)), _CONTENT_TYPE]
            status = OK
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": content})
        except EXPECTED as error:
            await response_to(error)(scope, receive, noting)
        finally:
            self._metrics.count_request(path, status, perf_counter() - start)
