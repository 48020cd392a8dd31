"""Check of the ``Host`` header.

A page in a browser can reach a service on the same machine or network if the page's own name is made to
resolve to the service's address (DNS rebinding). Such requests carry the name of the page.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

from budgetprune.errors import InvalidInputError

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
