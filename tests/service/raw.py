"""HTTP over a plain socket: requests that no client library would send, and answers as they come."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass
from typing import Any

JSON = "application/json"


def request(
    method: str, path: str, body: bytes | None = None, host: str = "localhost", headers: tuple[str, ...] = ()
) -> bytes:
    """Write a request."""
    lines = [f"{method} {path} HTTP/1.1", f"host: {host}", *headers]
    if body is not None:
        lines += [f"content-type: {JSON}", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


HEALTH = request("GET", "/healthz")


@dataclass
class Reply:
    """An answer, or b"" as `head` if the connection was closed instead."""

    head: bytes
    body: bytes
    is_cut: bool = False  # a chunked body has no end

    @property
    def status(self) -> int:
        return int(self.head.split()[1]) if self.head else 0

    def header(self, name: str) -> str | None:
        found = re.search(rf"^{name}: (.*?)\r$", self.head.decode("latin-1") + "\r", flags=re.M | re.I)
        return None if found is None else found[1]

    def json(self) -> Any:
        return json.loads(self.body)


class Reader:
    """Read one answer after the other from a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._rest = connection, b""

    def read(self, has_body: bool = True) -> Reply:
        while b"\r\n\r\n" not in self._rest:
            if not self._more():
                assert not self._rest, self._rest
                return Reply(b"", b"")
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        reply = Reply(head, b"")
        if has_body and reply.header("transfer-encoding") == "chunked":
            self._read_chunks(reply)
            return reply
        length = int(reply.header("content-length") or 0) if has_body else 0
        while len(self._rest) < length:
            assert self._more(), "the answer ends too early"
        reply.body, self._rest = self._rest[:length], self._rest[length:]
        return reply

    def _read_chunks(self, reply: Reply) -> None:
        while True:
            while b"\r\n" not in self._rest:
                if not self._more():
                    reply.is_cut = True
                    return
            size, _, self._rest = self._rest.partition(b"\r\n")
            n = int(size, 16) + 2
            while len(self._rest) < n:
                if not self._more():
                    reply.is_cut = True
                    return
            part, self._rest = self._rest[: n - 2], self._rest[n:]
            reply.body += part
            if not part:
                return

    def is_at_end(self) -> bool:
        """Whether the server has closed the connection, and sent nothing else."""
        return not self._rest and not self._more()

    def _more(self) -> bool:
        try:
            part = self._connection.recv(2**16)
        except ConnectionResetError:
            part = b""
        self._rest += part
        return bool(part)


def check_refusal(reply: Reply, status: int, words: str) -> None:
    """A refusal of the server has the same shape as one of the app, and is the last answer."""
    assert reply.status == status, reply
    assert reply.header("content-type") == JSON
    assert reply.header("connection") == "close"
    assert (reply.header("retry-after") is not None) == (status == 503)
    assert reply.json().keys() == {"error"}
    assert reply.json()["error"].keys() == {"message", "where"}
    assert re.search(words, reply.json()["error"]["message"]), reply
