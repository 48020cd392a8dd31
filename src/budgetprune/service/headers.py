"""Checks of the headers of requests."""

from __future__ import annotations

from collections.abc import Iterable

from budgetprune.service.errors import BAD_REQUEST, JSON, MISDIRECTED, TOO_LARGE, WRONG_TYPE, RefusedError
from budgetprune.service.hosts import Hosts

Headers = Iterable[tuple[bytes, bytes]]

_JSON = JSON.encode()


def check_body_headers(headers: Headers, limit: int) -> None:
    """Require JSON, of at most `limit` bytes if the length is declared."""
    content_type = declared = None  # the first counts if there are several
    for name, value in headers:
        if name == b"content-type":
            content_type = content_type or value
        elif name == b"content-length":
            declared = declared or value
    if content_type != _JSON and (content_type or b"").partition(b";")[0].strip().lower() != _JSON:
        raise RefusedError(
            WRONG_TYPE, f"the body must be JSON: send it with Content-Type: {JSON}.", "content-type"
        )
    if declared is not None and declared.isdigit() and int(declared[:20]) > limit:
        raise too_large(limit)


def too_large(limit: int) -> RefusedError:
    """Return the error for a body of more than `limit` bytes."""
    return RefusedError(TOO_LARGE, f"the body has more than {limit} bytes, which is the limit.", "body")


def check_host(headers: Headers, http_version: str, hosts: Hosts) -> None:
    """Require one ``Host`` header, which names this service."""
    found = [value for name, value in headers if name == b"host"]
    # HTTP/1.0 has no Host header, and browsers do not use it.
    if len(found) != 1 and (found or http_version != "1.0"):
        raise RefusedError(BAD_REQUEST, "a request must have one Host header.", "host")
    if found and not hosts.allows(found[0]):
        host = found[0].decode("latin-1")
        raise RefusedError(
            MISDIRECTED,
            f"the service does not answer for the host {host!r}. If clients should call it by that name, "
            "start it with: --allowed-hosts NAME (without the port; repeat it for more names; '*' allows "
            "all).",
            "host",
        )
