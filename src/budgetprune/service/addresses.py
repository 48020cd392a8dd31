"""Addresses of clients, also behind proxies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

from budgetprune.errors import InvalidInputError
from budgetprune.service.headers import Headers

# A network of this size belongs to one client as a rule, which can take any of its addresses.
IPV6_PREFIX = 64
# Further entries of X-Forwarded-For are ignored.
MOST_PROXIES = 16
# Characters of an address with a port; longer entries are not parsed, nor kept.
LONGEST = 64

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class ClientAddresses:
    """Find the address that a request came from.

    Parameters
    ----------
    trusted : iterable of str
        Addresses and networks of proxies. A request that comes from one of them comes from the last address
        in ``X-Forwarded-For`` that is not one of them. Anybody can write the rest of that header.

    Raises
    ------
    InvalidInputError
        If one of them is not an address or a network.
    """

    def __init__(self, trusted: Iterable[str] = ()) -> None:
        self._trusted = [_network(text) for text in trusted]
        self._parse = lru_cache(maxsize=1024)(_parse)

    def client_of(self, peer: str, headers: Headers) -> bytes:
        """Return a client's address, or its network for IPv6."""
        address = self._parse(peer)
        if self._trusted and self._is_trusted(address):
            values = [value for name, value in headers if name == b"x-forwarded-for"]
            entries = b",".join(values).decode("latin-1").split(",")[-MOST_PROXIES:] if values else []
            for entry in reversed(entries):
                found = self._parse(entry.strip()) if len(entry) <= LONGEST else None
                if found is None:
                    break  # the proxy itself is the client then
                address = found
                if not self._is_trusted(found):
                    break
        return b"" if address is None else _group(address)

    def _is_trusted(self, address: _Address | None) -> bool:
        return address is not None and any(address in network for network in self._trusted)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text.strip())
    except ValueError as error:
        raise InvalidInputError(
            f"trusted proxies: {text!r} is not an address or a network ({error}); for example 127.0.0.1 or "
            "10.0.0.0/8."
        ) from None


def _parse(text: str) -> _Address | None:
    """Read an address, perhaps with a port."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _group(address: _Address) -> bytes:
    if isinstance(address, ipaddress.IPv6Address):
        return address.packed[: IPV6_PREFIX // 8]
    return address.packed
