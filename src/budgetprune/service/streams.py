"""Streams of rows as NDJSON: an answer for each line, in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from budgetprune.service.bodies import BodyMemory, parse
from budgetprune.service.endpoints import DECIDE_STREAM, STEP_STREAM
from budgetprune.service.errors import (
    BUSY,
    OK,
    OLD_HTTP,
    TOO_LATE,
    WRONG_TYPE,
    RefusedError,
    error_body,
)
from budgetprune.service.handlers import HandleRequest, RequestHandler
from budgetprune.service.json_sizes import WHITESPACE
from budgetprune.service.lines import NEWLINE, LineSplitter
from budgetprune.service.metrics import Metrics
from budgetprune.service.scheduling import CooperativeScheduler
from budgetprune.utils.limits import KIB, Limits

NDJSON = "application/x-ndjson"
# Other names of the same format.
_TYPES = (NDJSON, "application/ndjson", "application/jsonl", "application/x-jsonlines")
# Bytes of answers that are sent at once, before more lines are answered.
AT_ONCE = 64 * KIB


class Streams:
    """Responses to requests with one row per line, by path.

    The response begins before the request has ended, and no more lines are read while the client does not
    read answers. So a stream of any length takes the memory of one line, of what the transport has buffered,
    and of `AT_ONCE` bytes of answers.

    Parameters
    ----------
    handler : RequestHandler
    metrics : Metrics
    limits : Limits
    memory : BodyMemory
        Shared with other requests.
    scheduler : CooperativeScheduler
        Shared with other requests.
    """

    def __init__(
        self,
        handler: RequestHandler,
        metrics: Metrics,
        limits: Limits,
        memory: BodyMemory,
        scheduler: CooperativeScheduler,
    ) -> None:
        self._metrics, self._limits, self._memory = metrics, limits, memory
        self._scheduler = scheduler
        self._handlers = {STEP_STREAM: handler.step, DECIDE_STREAM: handler.decide}

    async def answer(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to one of the paths.

        Raises
        ------
        RefusedError, ClientDisconnect
            Before the response has begun.
        """
        _check_headers(scope)
        most = self._limits.streams
        row = self._metrics.own_row
        if not row.begin_stream(most):
            raise RefusedError(BUSY, f"there are {most} streams, which is the limit; try again later.")
        lines = LineSplitter(self._limits.body, self._memory)
        try:
            await _Stream(self, lines, self._handlers[path]).run(receive, send)
        finally:
            lines.close()
            row.end_stream()

    async def receive(self, receive: Receive, deadline: float) -> Message | None:
        """Return the next part of a body; None if it does not come in time."""
        try:
            async with asyncio.timeout_at(deadline):
                return await receive()
        except TimeoutError:
            return None

    def deadline(self) -> float:
        """Return the time, of the event loop, when the line that is awaited must have arrived."""
        return asyncio.get_running_loop().time() + self._limits.body_timeout

    async def answer_lines(self, lines: LineSplitter, handle: HandleRequest) -> bytes:
        """Answer the lines that have arrived, or the first ones if there are many."""
        return await self._scheduler.run(self._work(lines, handle), _is_connected)

    def _work(self, lines: LineSplitter, handle: HandleRequest) -> Generator[None, None, bytes]:
        answers: list[bytes] = []
        size = 0
        while size < AT_ONCE and (line := lines.next_line()) is not None:
            if isinstance(line, RefusedError) or line.strip(WHITESPACE):
                answers.append(self._answer_line(line, f"line {lines.number}", handle))
                size += len(answers[-1])
            yield
        return b"".join(answers)

    def _answer_line(self, line: bytes | RefusedError, where: str, handle: HandleRequest) -> bytes:
        try:
            if isinstance(line, RefusedError):
                raise line
            found = handle(parse(line, self._limits, where), where)
        except RefusedError as error:
            self._metrics.count_line(is_answered=False)
            return error_body(str(error), error.where or where) + NEWLINE
        self._metrics.count_answer(found)
        self._metrics.count_line(is_answered=True)
        return orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE)


class StreamResponse(Response):
    """Response that reads the rest of its request while it is sent."""

    def __init__(self, streams: Streams, path: str, request: Request) -> None:
        super().__init__()
        self._streams, self._path, self._receive = streams, path, request.receive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        await self._streams.answer(self._path, scope, self._receive, send)


class _Stream:
    """One request."""

    def __init__(self, streams: Streams, lines: LineSplitter, handle: HandleRequest) -> None:
        self._streams, self._lines, self._handle = streams, lines, handle
        self._is_started = False

    async def run(self, receive: Receive, send: Send) -> None:
        deadline = self._streams.deadline()
        is_over = False
        while not is_over:
            message = await self._streams.receive(receive, deadline)
            if message is None:
                await self._end_late(send)
                return
            if message["type"] == "http.disconnect":
                if self._is_started:
                    return
                raise ClientDisconnect
            # The first data is awaited, because only then a server sends 100 Continue.
            await self._start(send)
            self._lines.feed(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                self._lines.end()
                is_over = True
            n_before = self._lines.number
            while content := await self._streams.answer_lines(self._lines, self._handle):
                await send({"type": "http.response.body", "body": content, "more_body": True})
            if self._lines.number > n_before:
                deadline = self._streams.deadline()
        await send({"type": "http.response.body", "body": b""})

    async def _start(self, send: Send) -> None:
        if not self._is_started:
            self._is_started = True
            headers = [(b"content-type", NDJSON.encode())]
            await send({"type": "http.response.start", "status": OK, "headers": headers})

    async def _end_late(self, send: Send) -> None:
        """Say that a line took too long, as the status of the response or as its last line."""
        where = f"line {self._lines.number + 1}"
        message = f"{where} took too long to arrive; an empty line from time to time keeps a stream open."
        if not self._is_started:
            raise RefusedError(TOO_LATE, message, where)
        await send({"type": "http.response.body", "body": error_body(message, where) + NEWLINE})


def _check_headers(scope: Scope) -> None:
    if scope["http_version"] == "1.0":
        raise RefusedError(
            OLD_HTTP, "a stream needs HTTP/1.1, and this is 1.0; nginx needs: proxy_http_version 1.1;"
        )
    given = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    if given.partition(b";")[0].strip().lower().decode("latin-1") not in _TYPES:
        raise RefusedError(
            WRONG_TYPE,
            f"the body must have one JSON object per line: send it with Content-Type: {NDJSON}.",
            "content-type",
        )


async def _is_connected() -> bool:
    return False  # the next part of the body tells it
