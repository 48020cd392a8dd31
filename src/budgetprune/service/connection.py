"""One connection: uvicorn's HTTP protocol, with limits on size and time, and answers until the end.

uvicorn's protocol on top of httptools has no limit on headers and no timeout but for idle connections. When a
request cannot be read, or the server stops, it closes the connection with requests unanswered.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from budgetprune.service.errors import BAD_REQUEST, BUSY, JSON, LARGE_HEADERS, RETRY, TOO_LATE, error_body
from budgetprune.utils.limits import KIB, Limits

# Bytes that are parsed at once, so that limits and flow control have a say in between.
PIECE = 4 * KIB
# Seconds that a refused client has to read the refusal. Closing at once would discard the refusal with what
# the client is still sending.
LINGER = 1.0
# Seconds from the end of a timeout to its effect.
LATE = 0.01
STOPPING = "the service is stopping; send the request again, as Retry-After says."

# A connection goes through these stages again and again.
IDLE, HEAD, BODY = 0, 1, 2
N_STAGES = 3


@dataclass
class Shared:
    """State of all connections of a server."""

    limits: Limits
    is_draining: bool = False  # requests that begin now are refused
    # Connections that are owed no answer, and since when; the one that waits longest comes first.
    waiting: dict[Connection, float] = field(default_factory=dict)


class Flow(FlowControl):
    """Flow control that the application cannot undo: it resumes reading whenever it waits for a message."""

    is_held = False

    def resume_reading(self) -> None:
        """Read again, unless there is more than can be used."""
        if not self.is_held:
            super().resume_reading()


class StopParsingError(Exception):
    """Raised in a callback of the parser, which must not go on."""


class Connection(HttpToolsProtocol):
    """Read requests within limits, and answer each that was read."""

    def __init__(self, config: uvicorn.Config, state: ServerState, shared: Shared) -> None:
        super().__init__(config, state, {})
        self._shared, self._limits = shared, shared.limits
        self._piece = min(PIECE, shared.limits.header_bytes)
        self._stage = IDLE  # counts up; its remainder by N_STAGES is what is being read
        self._timed_stage = IDLE
        self._timer: asyncio.TimerHandle | None = None
        self._is_late = False
        self._write_timer: asyncio.TimerHandle | None = None
        self._unproductive = 0  # bytes since a request began, its headers ended, or a part of its body came
        self._unread = b""
        self._asks_for_upgrade = False
        self._is_over = False  # nothing is read any more
        self._refusal = b""  # sent once all requests before are answered
        self._unanswered: deque[Any] = deque()  # uvicorn's cycles of request and response

    # --- Called by the transport ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
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

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        if self._is_over:
            return
        if len(data) <= self._piece and not self._unread and not self.pipeline:
            self._feed(data)
        else:
            self._unread += data
            self._read_on()
        if self.pipeline:
            self._hold()
        if self._stage != self._timed_stage:
            self._set_timer()

    def pause_writing(self) -> None:
        """See asyncio: the client does not read its answer."""
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
        """Whether nothing of a request has come, and no answer is owed."""
        return self._stage % N_STAGES == IDLE and not self._unanswered

    # --- Reading --------------------------------------------------------------------------------------------

    def _read_on(self) -> None:
        """Parse what has come, until a request has to wait for the one before."""
        data, at = self._unread, 0
        while at < len(data) and not self.pipeline and not self._is_over:
            self._feed(data[at : at + self._piece])
            at += self._piece
        self._unread = b"" if self._is_over else data[at:]

    def _hold(self) -> None:
        """Stop reading as long as a request has to wait for the one before."""
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
        """Read a request again as if it had not asked for another protocol: the parser skips its body."""
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
        super().on_headers_complete()
        self._unanswered.append(self.cycle)
        self.headers = []  # trailers are not headers

    def _stop(self, status: int, message: str) -> None:
        self._refuse(status, message, has_body=self.parser.get_method() != b"HEAD")
        raise StopParsingError

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._unproductive = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        if self._asks_for_upgrade:
            return
        self._stage += 1
        super().on_message_complete()
        if self._unanswered:
            self._shared.waiting.pop(self, None)

    def on_response_complete(self) -> None:
        """Go on with what the client has sent meanwhile. Called by uvicorn."""
        self._unanswered.popleft()
        super().on_response_complete()
        if self.transport.is_closing():
            self._is_over = True
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

    # --- Time -----------------------------------------------------------------------------------------------

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
            # What has come while the process did something else, or nothing, is read first.
            self._is_late = True
            self._timer = self.loop.call_later(LATE, self._time_out)
        elif stage == BODY and self.flow.read_paused:
            self._set_timer()  # the client would go on if we let it
        elif stage == IDLE or (stage == BODY and not self._unanswered):
            self.transport.close()
        else:
            part = "headers" if stage == HEAD else "body"
            self._refuse(TOO_LATE, f"the {part} of the request took too long to arrive.")

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection, unless a request has come meanwhile. Called by uvicorn's timer."""
        self.timeout_keep_alive_task = self.loop.call_later(LATE, super().timeout_keep_alive_handler)

    # --- The end --------------------------------------------------------------------------------------------

    def _refuse(self, status: int, message: str, *, has_body: bool = True) -> None:
        """Read no more; refuse the request that is being read once those before are answered."""
        if self._is_over:
            return
        self._is_over = True
        self._unread = b""
        self._cancel_timer()
        self._refusal = self._response(status, message, has_body=has_body)
        if self._stage % N_STAGES == BODY and self._unanswered and self._unanswered[-1] is self.cycle:
            # It waits for its body, or for those before it.
            cycle = self._unanswered[-1]
            if cycle.more_body and not cycle.response_started:
                self._unanswered.pop()
                _abandon(cycle)
                if self.pipeline:
                    self.pipeline.popleft()
        if not self._unanswered:
            self._send_refusal()

    def _response(self, status: int, message: str, *, has_body: bool) -> bytes:
        body = error_body(message)
        headers = [*self.server_state.default_headers, (b"content-type", JSON.encode())]
        headers += [(b"content-length", b"%d" % len(body)), (b"connection", b"close")]
        if status == BUSY:
            headers += [(name.encode(), value.encode()) for name, value in RETRY.items()]
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join([*lines, b"", body if has_body else b""])

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
        """Close a connection that waits for its client, because others need the place."""
        if self._is_over or self.transport.is_closing():
            self.transport.abort()
            return
        if self._stage % N_STAGES != IDLE:
            self._refuse(BUSY, "there are too many connections; this one was too slow.")
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def close_when_answered(self) -> None:
        """Close the connection as soon as no answer is owed; a request that has just begun is refused."""
        if self._unanswered:
            self._unanswered[-1].keep_alive = False
        elif self._stage % N_STAGES == HEAD:
            self._refuse(BUSY, STOPPING)
        elif not self._is_over:
            self.transport.close()

    def cut_off(self) -> None:
        """Answer a request that takes too long with a refusal, and close."""
        cycles = list(self._unanswered)
        self._unanswered.clear()
        self.pipeline.clear()
        self._is_over = True
        for cycle in cycles:
            _abandon(cycle)
        if cycles and not cycles[0].response_started and not self.transport.is_closing():
            has_body = cycles[0].scope["method"] != "HEAD"
            self.transport.write(self._response(BUSY, STOPPING, has_body=has_body))
        self.transport.close()


def _abandon(cycle: Any) -> None:
    """Let the application see that the client has gone; what it still sends is dropped."""
    cycle.disconnected = True
    cycle.message_event.set()
