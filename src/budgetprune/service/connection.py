"""uvicorn's HTTP protocol with size limits, timeouts and a graceful shutdown.

uvicorn's httptools protocol does not limit headers and only times out idle connections. On an invalid request
or a shutdown, it closes the connection and leaves earlier requests unanswered.

Small requests for decisions that have arrived completely are answered here, before a task and ASGI's messages
are made for them: these took half of the time of such a request.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from budgetprune.service.counts import OwnRow
from budgetprune.service.endpoints import STREAMS
from budgetprune.service.errors import BAD_REQUEST, BUSY, LARGE_HEADERS, TOO_LATE
from budgetprune.service.headers import Headers
from budgetprune.service.responses import failure, success
from budgetprune.utils.limits import KIB, Limits

# Bytes parsed per call; limits and flow control are checked in between.
PIECE = 4 * KIB
# Seconds between sending an error response and aborting. An immediate close would discard the response while
# the client is still sending.
LINGER = 1.0
# Seconds between the expiry of a timeout and its effect.
LATE = 0.01
STOPPING = "the service is stopping; send the request again, as Retry-After says."

AnswerNow = Callable[[bytes, Headers, bytes, str], bytes | None]

# A connection cycles through these stages.
IDLE, HEAD, BODY = 0, 1, 2
N_STAGES = 3


@dataclass
class SharedState:
    """State of all connections of a server."""

    limits: Limits
    row: OwnRow  # to record the number of open connections
    # Answers a request at once, given its URL, headers, body and the address of the client, or returns None:
    # the app answers it.
    answer_now: AnswerNow = lambda url, headers, body, peer: None
    is_draining: bool = False  # new requests are rejected
    # Connections without a pending response, and since when; oldest first.
    waiting: dict[Connection, float] = field(default_factory=dict)


class Flow(FlowControl):
    """Flow control that ignores the application's resume while reading is held."""

    is_held = False

    def resume_reading(self) -> None:
        """Resume reading, unless it is held."""
        if not self.is_held:
            super().resume_reading()


class StopParsingError(Exception):
    """Raised in a parser callback to stop the parser."""


class Connection(HttpToolsProtocol):
    """Read requests within limits and answer every request that was read."""

    def __init__(self, config: uvicorn.Config, state: ServerState, shared: SharedState) -> None:
        super().__init__(config, state, {})
        self._shared, self._limits = shared, shared.limits
        self._piece = min(PIECE, shared.limits.header_bytes)
        self._stage = IDLE  # increases; modulo N_STAGES it is the current stage
        self._timed_stage = IDLE
        self._timer: asyncio.TimerHandle | None = None
        self._is_late = False
        self._write_timer: asyncio.TimerHandle | None = None
        self._unproductive = 0  # bytes since the last start of a request, end of headers or part of a body
        self._unread = b""
        self._asks_for_upgrade = False
        self._is_over = False  # no more data is read
        self._refusal = b""  # sent after the responses to earlier requests
        self._unanswered: deque[Any] = deque()  # uvicorn's request-response cycles
        self._is_stream = False  # the app answers the current request while its body arrives
        # Headers and body of a request that may be answered at once, while its data is parsed.
        self._early_headers: Headers | None = None
        self._early_body = b""

    # --- Called by the transport ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        self._shared.row.note_connections(len(self.connections))
        self.flow: Flow = Flow(transport)
        self._shared.waiting[self] = self.loop.time()
        self._timer = self.loop.call_later(self._limits.header_timeout, self._time_out)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._is_over = True
        self._unread = b""
        self._shared.waiting.pop(self, None)
        self._cancel_timer()
        self.resume_writing()
        for cycle in self._unanswered:
            _abandon(cycle)
        self._unset_keepalive_if_required()
        super().connection_lost(exc)
        self._shared.row.note_connections(len(self.connections))

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        if self._is_over:
            return
        if len(data) <= self._piece and not self._unread and not self.pipeline:
            self._feed(data)
        else:
            self._unread += data
            self._read_on()
        if self._early_headers is not None and not self._is_over:
            self._start_cycle()  # the rest of the body is to come
        if self.pipeline:
            self._hold()
        if self._stage != self._timed_stage:
            self._set_timer()

    def pause_writing(self) -> None:
        """See asyncio. Starts a timeout for the client to read its response."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self._limits.body_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """See asyncio."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    @property
    def is_idle(self) -> bool:
        """Whether no request has begun and no response is pending."""
        return self._stage % N_STAGES == IDLE and not self._unanswered

    # --- Reading --------------------------------------------------------------------------------------------

    def _read_on(self) -> None:
        """Parse buffered data until a request has to wait for the previous one."""
        data, at = self._unread, 0
        while at < len(data) and not self.pipeline and not self._is_over:
            self._feed(data[at : at + self._piece])
            at += self._piece
        self._unread = b"" if self._is_over else data[at:]

    def _hold(self) -> None:
        """Stop reading while a request has to wait for the previous one."""
        self.flow.is_held = bool(self.pipeline or self._unread)
        if self.flow.is_held:
            self.flow.pause_reading()
        else:
            self.flow.resume_reading()

    def _feed(self, data: bytes) -> None:
        self._unproductive += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(BAD_REQUEST, "this is not an HTTP request.")
        if self._unproductive > self._limits.header_bytes:
            limit = self._limits.header_bytes
            self._refuse(LARGE_HEADERS, f"the headers have more than {limit} bytes, which is the limit.")

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Parse a request again without its Upgrade header; otherwise the parser skips the body."""
        start = b"%b %b HTTP/%b" % (
            self.parser.get_method(),
            self.url,
            self.parser.get_http_version().encode(),
        )
        headers = [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self._asks_for_upgrade = False
        self._stage += N_STAGES - BODY
        self._feed(b"\r\n".join([start, *headers, b"", rest]))

    def on_message_begin(self) -> None:
        """See httptools."""
        self._unset_keepalive_if_required()
        self._stage += 1
        self._unproductive = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._stage += 1
        self._unproductive = 0
        if len(self.headers) > self._limits.headers:
            message = f"there are {len(self.headers)} headers; the limit is {self._limits.headers}."
            self._stop(LARGE_HEADERS, message)
        if self._shared.is_draining:
            self._stop(BUSY, STOPPING)
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            self._asks_for_upgrade = True
            return
        self._early_headers, self._early_body = self.headers, b""
        self.headers = []  # keep trailers apart
        if self._unanswered or self.flow.is_held or self.flow.write_paused or self.expect_100_continue:
            self._start_cycle()

    def _start_cycle(self) -> None:
        """Let the app answer the current request."""
        self._early_headers = None
        super().on_headers_complete()
        self._unanswered.append(self.cycle)
        self._is_stream = self.scope["path"] in STREAMS
        if self._is_stream:
            self._shared.waiting.pop(self, None)
        if self._early_body:
            super().on_body(self._early_body)

    def _answer_now(self) -> bool:
        """Answer the current request if that takes little time; return whether it is answered."""
        assert self._early_headers is not None
        if self.parser.get_method() != b"POST":
            return False
        peer = self.client[0] if self.client else ""
        content = self._shared.answer_now(self.url, self._early_headers, self._early_body, peer)
        if content is None:
            return False
        self._early_headers = None
        self.server_state.total_requests += 1
        keep_alive = self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive()
        self.transport.write(success(content, self.server_state.default_headers, keep_alive=keep_alive))
        waiting = self._shared.waiting
        waiting.pop(self, None)
        waiting[self] = self.loop.time()
        if keep_alive:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        else:
            self._is_over = True
            self.transport.close()
        return True

    def _stop(self, status: int, message: str) -> None:
        self._refuse(status, message, has_body=self.parser.get_method() != b"HEAD")
        raise StopParsingError

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._unproductive = 0
        if self._early_headers is None:
            super().on_body(body)
        else:
            self._early_body += body

    def on_message_complete(self) -> None:
        """See httptools."""
        if self._asks_for_upgrade:
            return
        self._stage += 1
        if self._early_headers is not None:
            if self._answer_now():
                return
            self._start_cycle()
        super().on_message_complete()
        if self._unanswered:
            self._shared.waiting.pop(self, None)

    def on_response_complete(self) -> None:
        """Continue with the data received meanwhile. Called by uvicorn."""
        cycle = self._unanswered.popleft()
        super().on_response_complete()
        if self.transport.is_closing():
            self._is_over = True
        elif self._is_stream and cycle is self.cycle:
            self._is_stream = False
            if cycle.more_body:
                self._stop_reading(b"")
                return
        if self.flow.is_held:
            self._read_on()
            self._set_timer()
            self._hold()
        if self._unanswered:
            self._unset_keepalive_if_required()
        else:
            self._shared.waiting[self] = self.loop.time()
            if self._stage % N_STAGES == HEAD:
                self._unset_keepalive_if_required()
            if self._refusal:
                self._send_refusal()

    # --- Timeouts -------------------------------------------------------------------------------------------

    def _set_timer(self) -> None:
        if self._is_over:
            return  # the timer that closes a refused connection must stay
        self._cancel_timer()
        self._is_late = False
        self._timed_stage = self._stage
        stage = self._stage % N_STAGES
        if stage != IDLE:
            seconds = self._limits.header_timeout if stage == HEAD else self._limits.body_timeout
            self._timer = self.loop.call_later(seconds, self._time_out)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        stage = self._stage % N_STAGES
        if not self._is_late:
            # Read data first that arrived while the process was busy or suspended.
            self._is_late = True
            self._timer = self.loop.call_later(LATE, self._time_out)
        elif stage == BODY and (self.flow.read_paused or self._is_stream):
            self._set_timer()  # we paused reading, so the client is not late; or the app has its own timeout
        elif stage == IDLE or (stage == BODY and not self._unanswered):
            self.transport.close()
        else:
            part = "headers" if stage == HEAD else "body"
            self._refuse(TOO_LATE, f"the {part} of the request took too long to arrive.")

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection unless a request has arrived meanwhile. Called by uvicorn's timer."""
        self.timeout_keep_alive_task = self.loop.call_later(LATE, super().timeout_keep_alive_handler)

    # --- Errors and shutdown --------------------------------------------------------------------------------

    def _refuse(self, status: int, message: str, *, has_body: bool = True) -> None:
        """Stop reading, and reject the current request after earlier ones are answered."""
        if self._is_over:
            return
        self._stop_reading(failure(status, message, self.server_state.default_headers, has_body=has_body))

    def _stop_reading(self, refusal: bytes) -> None:
        self._is_over = True
        self._unread = b""
        self._cancel_timer()
        self._refusal = refusal
        if self._stage % N_STAGES == BODY and self._unanswered and self._unanswered[-1] is self.cycle:
            # The request waits for its body or for earlier requests.
            cycle = self._unanswered[-1]
            if cycle.more_body and (self._is_stream or not cycle.response_started):
                if cycle.response_started:
                    self._refusal = b""  # the response stays without an end, so the client notices
                self._unanswered.pop()
                _abandon(cycle)
                if self.pipeline:
                    self.pipeline.popleft()
        if not self._unanswered:
            self._send_refusal()

    def _send_refusal(self) -> None:
        self._unset_keepalive_if_required()
        if self.transport.is_closing():
            return
        self.transport.write(self._refusal)
        self._refusal = b""
        self.transport.write_eof()
        self._hold()
        self._shared.waiting.setdefault(self, self.loop.time())
        self._timer = self.loop.call_later(LINGER, self.transport.abort)

    def evict(self) -> None:
        """Close a connection that waits for its client, to make room for others."""
        if self._is_over or self.transport.is_closing():
            self.transport.abort()
            return
        if self._stage % N_STAGES != IDLE:
            self._refuse(BUSY, "there are too many connections; this one was too slow.")
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def close_when_answered(self) -> None:
        """Close the connection once no response is pending; reject a request that has just begun."""
        if self._unanswered:
            self._unanswered[-1].keep_alive = False
        elif self._stage % N_STAGES == HEAD:
            self._refuse(BUSY, STOPPING)
        elif not self._is_over:
            self.transport.close()

    def cut_off(self) -> None:
        """Reject a request that takes too long, and close the connection."""
        cycles = list(self._unanswered)
        self._unanswered.clear()
        self.pipeline.clear()
        self._is_over = True
        for cycle in cycles:
            _abandon(cycle)
        if cycles and not cycles[0].response_started and not self.transport.is_closing():
            has_body = cycles[0].scope["method"] != "HEAD"
            self.transport.write(
                failure(BUSY, STOPPING, self.server_state.default_headers, has_body=has_body)
            )
        self.transport.close()


def _abandon(cycle: Any) -> None:
    """Mark the client as disconnected; further output of the application is dropped."""
    cycle.disconnected = True
    cycle.message_event.set()
