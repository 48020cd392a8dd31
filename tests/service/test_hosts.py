"""Requests for other hosts are refused, so that no page in a browser can be made to ask."""

from __future__ import annotations

import pytest

from budgetprune import InvalidInputError
from budgetprune.service import create_app
from budgetprune.service.hosts import Hosts

from .models import predictor
from .raw import Reader, request
from .servers import ask, check_refused


@pytest.mark.parametrize(
    ("bound", "others", "header", "expected"),
    [
        ("127.0.0.1", [], "localhost", True),
        ("127.0.0.1", [], "LocalHost:8000", True),
        ("127.0.0.1", [], "localhost.", True),
        ("127.0.0.1", [], "127.0.0.1:1", True),
        ("127.0.0.1", [], "[::1]:8000", True),
        ("127.0.0.1", [], "[0:0:0:0:0:0:0:1]", True),
        ("127.0.0.1", [], "evil.example", False),
        ("127.0.0.1", [], "localhost.evil.example", False),
        ("127.0.0.1", [], "evil.example:localhost", False),
        ("127.0.0.1", [], "evil@localhost", False),
        ("127.0.0.1", [], "localhost:80:80", False),
        ("127.0.0.1", [], "", False),
        ("127.0.0.1", [], "[::1", False),
        ("127.0.0.1", [], "10.0.0.1", False),
        ("127.0.0.1", [], "b\xfcro", False),
        ("127.0.0.1", ["api.example", "10.0.0.1"], "API.example:80", True),
        ("127.0.0.1", ["api.example", "10.0.0.1"], "10.0.0.1", True),
        ("127.0.0.1", ["api.example"], "127.0.0.1", True),
        ("127.0.0.1", ["[fd00::1]"], "[FD00:0::1]:80", True),
        ("127.0.0.1", ["*"], "evil.example", True),
        ("10.0.0.1", [], "10.0.0.1:8000", True),
        ("10.0.0.1", [], "localhost", True),
        ("10.0.0.1", [], "10.0.0.2", False),
        ("api.example", [], "api.example", True),
        ("0.0.0.0", [], "127.0.0.1", True),
        ("0.0.0.0", [], "10.0.0.2:8000", True),
        ("::", [], "[fd00::1]", True),
        ("0.0.0.0", [], "evil.example", False),
        ("0.0.0.0", ["api.example"], "api.example", True),
    ],
)
def test_hosts(bound, others, header, expected):
    assert Hosts(bound, others).allows(header.encode("latin-1")) == expected


@pytest.mark.parametrize(
    "name", ["http://a.example", "a.example:80", "a.example/", "", "a b", "a..b", "*.example"]
)
def test_names_that_are_none(name):
    with pytest.raises(InvalidInputError, match="is not a host name; give a name or an address without"):
        Hosts("127.0.0.1", [name])


def test_an_app_of_ones_own():
    """It allows all unless it is told otherwise."""
    assert ask(create_app(predictor("averaged")), "GET", "/healthz").status_code == 200
    app = create_app(predictor("averaged"), hosts=Hosts("127.0.0.1"))
    check_refused(ask(app, "GET", "/healthz"), 421, "the host 'here'.*--allowed-hosts")
    ok = ask(app, "GET", "/healthz", headers={"host": "localhost:80"})
    assert ok.status_code == 200


def test_over_a_socket(service, client):
    check_refused(
        client.get("/healthz", headers={"host": "evil.example"}), 421, "start it with: --allowed-hosts"
    )
    assert client.get("/healthz", headers={"host": f"localhost:{service.port}"}).status_code == 200
    for head, status in (
        (b"GET /healthz HTTP/1.0\r\n\r\n", 200),
        (b"GET /healthz HTTP/1.0\r\nhost: evil.example\r\n\r\n", 421),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (request("GET", "/healthz", headers=("host: localhost",)), 400),
        (request("GET", "/healthz", host="[::1]"), 200),
    ):
        with service.connect() as connection:
            connection.sendall(head)
            assert Reader(connection).read().status == status
