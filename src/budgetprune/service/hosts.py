"""Check of the ``Host`` header.

A page in a browser can reach a service on the same machine or network if the page's own name is made to
resolve to the service's address (DNS rebinding). Such requests carry the name of the page.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

from starlette.types import ASGIApp, Receive, Scope, Send

from budgetprune.errors import InvalidInputError
from budgetprune.service.errors import BAD_REQUEST, MISDIRECTED, refusal

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ANY_HOST = "*"

_HEADER = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<name>[^:\[\]]+))(?::\d*)?")


class Hosts:
    """Decide whether a ``Host`` header names this service.

    Parameters
    ----------
    bound : str
        Name or address that the service listens on.
    others : names or addresses, without ports
        ``*`` allows all.

    Raises
    ------
    InvalidInputError
        If one of the others is not a name or an address.
    """

    def __init__(self, bound: str, others: Iterable[str] = ()) -> None:
        others = [other.strip() for other in others]
        self.allows_all = ANY_HOST in others
        self._names = {_canonical(name) for name in (*LOOPBACK, bound)}
        self._names |= {_checked(name) for name in others if name != ANY_HOST}
        # Bound to all interfaces: accept any address. DNS rebinding needs a name.
        self._any_address = _is_unspecified(bound)
        self.allows = lru_cache(maxsize=64)(self._allows)

    def _allows(self, header: bytes) -> bool:
        """Whether a header is allowed."""
        if self.allows_all:
            return True
        found = _HEADER.fullmatch(header.decode("latin-1"))
        if found is None:
            return False
        name = _canonical(found["v6"] or found["name"])
        return name in self._names or (self._any_address and _address(name) is not None)


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


def _checked(name: str) -> str:
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    if _address(bare) is None and not re.fullmatch(r"[\w-]+(\.[\w-]+)*\.?", bare):
        raise InvalidInputError(
            f"allowed hosts: {name!r} is not a host name; give a name or an address without scheme, port and "
            "path, or '*'."
        )
    return _canonical(bare)


def _canonical(name: str) -> str:
    address = _address(name)
    return name.lower().removesuffix(".") if address is None else str(address)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _is_unspecified(host: str) -> bool:
    address = _address(host)
    return host == "" or (address is not None and address.is_unspecified)
