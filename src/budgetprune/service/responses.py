"""Responses that the server writes without the app, in the form of the app's."""

from __future__ import annotations

from http import HTTPStatus

from budgetprune.service.errors import BUSY, JSON, RETRY, error_body
from budgetprune.service.headers import Headers

_JSON = JSON.encode()


def success(content: bytes, default_headers: Headers, *, keep_alive: bool) -> bytes:
    """Write a response with JSON."""
    start = b"".join([b"%b: %b\r\n" % header for header in default_headers])
    end = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
    return b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\ncontent-type: %b\r\n%b%b" % (
        start,
        len(content),
        _JSON,
        end,
        content,
    )


def failure(status: int, message: str, default_headers: Headers, *, has_body: bool) -> bytes:
    """Write an error, after which the connection is closed."""
    body = error_body(message)
    headers = [*default_headers, (b"content-type", _JSON)]
    headers += [(b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    if status == BUSY:
        headers += [(name.encode(), value.encode()) for name, value in RETRY.items()]
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
    lines += [name + b": " + value for name, value in headers]
    return b"\r\n".join([*lines, b"", body if has_body else b""])
