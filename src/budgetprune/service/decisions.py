"""Requests for decisions: from their bytes to those of the response."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter

import orjson
from starlette.requests import Request
from starlette.types import Receive, Scope

from budgetprune.service.bodies import BodyReader, parse, parse_rows
from budgetprune.service.endpoints import DECIDE, DECIDE_BATCH, STEP, STEP_BATCH
from budgetprune.service.errors import INVALID, OK, RefusedError
from budgetprune.service.gate import Gate
from budgetprune.service.handlers import Answer, HandleRequest, RequestHandler
from budgetprune.service.headers import Headers, check_body_headers, check_host
from budgetprune.service.hosts import Hosts
from budgetprune.service.metrics import Metrics
from budgetprune.service.scheduling import CooperativeScheduler
from budgetprune.utils.limits import KIB, Limits

# Bodies up to this many bytes are answered immediately; larger ones in time slices.
SMALL = 16 * KIB
# Answers serialized between two yields.
ROWS_AT_ONCE = 50
SHOWN_BAD_ROWS = 5


class Decisions:
    """Responses to POST requests for decisions, by path.

    Parameters
    ----------
    handler : RequestHandler
    metrics : Metrics
    limits : Limits
    hosts : Hosts, optional
        Accepted ``Host`` headers. None accepts all.
    gate : Gate, optional
        Checks of tokens and limits. None admits all.
    """

    def __init__(
        self,
        handler: RequestHandler,
        metrics: Metrics,
        limits: Limits,
        hosts: Hosts | None = None,
        gate: Gate | None = None,
    ) -> None:
        self._metrics, self._limits, self._hosts, self._gate = metrics, limits, hosts, gate
        self.reader, self.scheduler = BodyReader(limits), CooperativeScheduler()
        self._for_one = {STEP: handler.step, DECIDE: handler.decide}
        self._for_batch = {STEP_BATCH: handler.step, DECIDE_BATCH: handler.decide}
        self._by_url = {path.encode(): path for path in self._for_one}
        self.paths = frozenset((*self._for_one, *self._for_batch))

    async def __call__(self, path: str, scope: Scope, receive: Receive) -> bytes:
        """Read a request to one of `paths` and return the body of its response.

        Raises
        ------
        RefusedError, ClientDisconnect
        """
        is_batch = path in self._for_batch
        raw = await self.reader.receive(
            scope, receive, self._limits.batch_body if is_batch else self._limits.body
        )
        try:
            if is_batch:
                work = _answer_all(raw, self._for_batch[path], self._limits, self._metrics)
            elif len(raw) <= SMALL:
                return self._answer(path, raw)
            else:
                work = self._answer_in_slices(path, raw)
            return await self.scheduler.run(work, Request(scope, receive).is_disconnected)
        finally:
            self.reader.release(raw)

    def now(self, url: bytes, headers: Headers, raw: bytes, peer: str = "") -> bytes | None:
        """Return the body of the response to a small POST request, if all is well with it; else None.

        The server calls this for requests that have arrived completely. It leaves all others to the app, so
        that only one place writes errors.
        """
        path = self._by_url.get(url)
        if path is None or len(raw) > min(SMALL, self._limits.body):
            return None
        start, client = perf_counter(), None
        try:
            if self._hosts is not None:
                check_host(headers, "1.1", self._hosts)
            if self._gate is not None:
                client = self._gate.client_of(path, peer, headers)
                if client is None:
                    return None
            check_body_headers(headers, self._limits.body)
            content = self._answer(path, raw)
        except Exception:
            return None
        if self._gate is not None and client is not None:
            self._gate.charge(client)
        self._metrics.count_request(path, OK, perf_counter() - start)
        return content

    def _answer(self, path: str, raw: bytes) -> bytes:
        found = self._for_one[path](parse(raw, self._limits), "body")
        content = orjson.dumps(found)
        self._metrics.count_answer(found)
        return content

    def _answer_in_slices(self, path: str, raw: bytes) -> Generator[None, None, bytes]:
        yield
        return self._answer(path, raw)


def _answer_all(
    raw: bytes, handle: HandleRequest, limits: Limits, metrics: Metrics
) -> Generator[None, None, bytes]:
    """Answer each row. Any invalid row rejects the batch; the error lists the first few."""
    answers: list[Answer] = []
    refusals: list[RefusedError] = []
    for i, row in enumerate(parse_rows(raw, limits)):
        try:
            answers.append(handle(row, f"rows[{i}]"))
        except RefusedError as refusal:
            refusals.append(refusal)
            if len(refusals) == SHOWN_BAD_ROWS:
                break
        yield
    if refusals:
        raise _together(refusals)
    texts: list[bytes] = []
    for part in (answers[i : i + ROWS_AT_ONCE] for i in range(0, len(answers), ROWS_AT_ONCE)):
        for answer in part:
            metrics.count_answer(answer)
        texts.append(orjson.dumps(part)[1:-1])
        yield
    return b'{"answers":[' + b",".join(texts) + b"]}"


def _together(refusals: list[RefusedError]) -> RefusedError:
    """Combine the errors of several rows into one."""
    messages = [f"{(refusal.where or '').partition('.')[0]}: {refusal}" for refusal in refusals]
    return RefusedError(INVALID, " ".join(messages), refusals[0].where)
