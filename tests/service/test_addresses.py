"""Addresses of clients: the peer, unless it is a proxy that is trusted."""

from __future__ import annotations

import pytest

from budgetprune import InvalidInputError
from budgetprune.service.addresses import ClientAddresses

PROXY, CLIENT, OTHER = "10.0.0.1", "198.51.100.7", "203.0.113.9"


def client(trusted, peer, *forwarded) -> bytes:
    headers = [(b"host", b"here"), *((b"x-forwarded-for", value.encode("latin-1")) for value in forwarded)]
    return ClientAddresses(trusted).client_of(peer, headers)


def plain(address: str) -> bytes:
    return client([], address)


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "expected"),
    [
        ([], CLIENT, [], CLIENT),
        ([], CLIENT, [OTHER], CLIENT),
        ([PROXY], CLIENT, [OTHER], CLIENT),
        ([PROXY], PROXY, [], PROXY),
        ([PROXY], PROXY, [CLIENT], CLIENT),
        (["10.0.0.0/8"], PROXY, [CLIENT], CLIENT),
        ([PROXY], PROXY, [f"{OTHER}, {CLIENT}"], CLIENT),
        ([PROXY], PROXY, [OTHER, CLIENT], CLIENT),
        (["10.0.0.0/8"], PROXY, [f"{OTHER}, {CLIENT}, 10.9.9.9"], CLIENT),
        (["10.0.0.0/8"], PROXY, ["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
        ([PROXY], PROXY, [f"{CLIENT}:4711"], CLIENT),
        ([PROXY], PROXY, ["[2001:db8::1]:4711"], "2001:db8::1"),
        ([PROXY], PROXY, ["unknown"], PROXY),
        ([PROXY], PROXY, [f"{CLIENT}, unknown"], PROXY),
        ([PROXY], PROXY, [f"{CLIENT},"], PROXY),
        ([PROXY], PROXY, ["\xff" * 1000], PROXY),
        (["::1"], "::1", [CLIENT], CLIENT),
        ([PROXY], f"::ffff:{PROXY}", [CLIENT], CLIENT),
        ([PROXY], PROXY, [f"::ffff:{CLIENT}"], CLIENT),
    ],
)
def test_clients(trusted, peer, forwarded, expected):
    assert client(trusted, peer, *forwarded) == plain(expected)


def test_networks_of_ipv6_count_as_one_client():
    assert plain("2001:db8:0:1::1") == plain("2001:db8:0:1:ffff::2")
    assert plain("2001:db8:0:1::1") != plain("2001:db8:0:2::1")
    assert plain("198.51.100.7") != plain("198.51.100.8")


def test_no_address():
    """For example a Unix socket."""
    assert client([PROXY], "") == b""


def test_long_headers_take_little_time():
    assert client(["0.0.0.0/0"], PROXY, "10.0.0.1," * 3000) == plain(PROXY)


@pytest.mark.parametrize("text", ["", "proxy.example", "10.0.0.1/8", "10.0.0.0/33", "*"])
def test_proxies_that_are_none(text):
    with pytest.raises(InvalidInputError, match=r"trusted proxies: .* is not an address or a network"):
        ClientAddresses([text])
