"""Tokens and limits in the service: what is open, what is refused, and that early answers are checked too."""

from __future__ import annotations

import json
import os
import re
import sys
import time

import httpx
import pytest

from budgetprune import InvalidInputError
from budgetprune.service import Access, create_app

from .models import predictor, rows
from .raw import Reader, request
from .servers import PATIENCE, ask, check_refused, running

TOKEN, OTHER = "token-of-the-first-client", "token-of-the-other-client"
AS_CLIENT, AS_OTHER = ({"authorization": f"Bearer {token}"} for token in (TOKEN, OTHER))
BODY = {"values": rows("classes", 1)[0]}
REQUESTS = [
    ("GET", "/v1/model", {}),
    ("GET", "/metrics", {}),
    ("GET", "/openapi.json", {}),
    ("GET", "/nowhere", {}),
    ("POST", "/v1/decide", {"json": BODY}),
    ("POST", "/v1/step", {"json": BODY}),
    ("POST", "/v1/batch", {"json": {"rows": [BODY]}}),
    ("POST", "/healthz", {}),
    ("GET", "/healthz/", {}),
    ("GET", "//healthz", {}),
]


def app_with(**options):
    return create_app(predictor("classes"), access=Access(**options))


@pytest.mark.parametrize(("method", "path", "options"), REQUESTS)
def test_requests_need_a_token(method, path, options):
    app = app_with(tokens=[TOKEN, OTHER])
    refused = ask(app, method, path, **options)
    if path == "/healthz":
        assert refused.status_code == 405
        return
    check_refused(refused, 401, "needs a token")
    assert refused.headers["www-authenticate"] == 'Bearer realm="budgetprune"'
    for headers in (AS_CLIENT, AS_OTHER):
        status = ask(app, method, path, headers=headers, **options).status_code
        assert status == (404 if path in ("/nowhere", "/healthz/", "//healthz") else 200)
    wrong = ask(app, method, path, headers={"authorization": "Bearer 0123456789abcdef"}, **options)
    check_refused(wrong, 401, "not accepted")
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]


def test_what_is_open():
    closed, opened = app_with(tokens=[TOKEN]), app_with(tokens=[TOKEN], open_metrics=True)
    for app in (closed, opened):
        assert ask(app, "GET", "/healthz").status_code == 200
        assert ask(app, "HEAD", "/healthz").status_code == 200
    assert ask(closed, "GET", "/metrics").status_code == 401
    assert ask(opened, "GET", "/metrics").status_code == 200
    assert ask(opened, "GET", "/v1/model").status_code == 401


def test_without_access_nothing_is_needed():
    assert ask(create_app(predictor("classes")), "GET", "/v1/model").status_code == 200
    assert ask(app_with(), "GET", "/v1/model").status_code == 200


def test_limits_by_token():
    app = app_with(tokens=[TOKEN, OTHER], rate=0.01, burst=3)
    for _ in range(3):
        assert ask(app, "POST", "/v1/decide", json=BODY, headers=AS_CLIENT).status_code == 200
    for method, path, options in REQUESTS[:3]:
        refused = ask(app, method, path, headers=AS_CLIENT, **options)
        check_refused(refused, 429, r"too many requests: 0.01 per second are allowed; try again in \d+ s")
        assert 95 <= int(refused.headers["retry-after"]) <= 100
    assert ask(app, "GET", "/healthz").status_code == 200
    assert ask(app, "GET", "/v1/model", headers=AS_OTHER).status_code == 200


def test_guesses_are_limited_by_address():
    app = app_with(tokens=[TOKEN], rate=0.01, burst=2)
    statuses = [ask(app, "GET", "/v1/model").status_code for _ in range(4)]
    assert statuses == [401, 401, 429, 429]
    assert ask(app, "GET", "/v1/model", headers=AS_CLIENT).status_code == 200


def test_limits_by_address():
    app = app_with(rate=0.01, burst=1)
    assert ask(app, "GET", "/v1/model").status_code == 200
    headers = {"x-forwarded-for": "198.51.100.7"}
    assert ask(app, "GET", "/v1/model", headers=headers).status_code == 429
    app = app_with(tokens=[TOKEN, OTHER], rate=0.01, burst=1, limit_by="address")
    assert ask(app, "GET", "/v1/model", headers=AS_CLIENT).status_code == 200
    assert ask(app, "GET", "/v1/model", headers=AS_OTHER).status_code == 429


def test_behind_a_proxy():
    app = app_with(rate=0.01, burst=1, trusted_proxies=["127.0.0.0/8"])

    def status(*forwarded):
        headers = [("x-forwarded-for", value) for value in forwarded]
        return ask(app, "GET", "/v1/model", headers=headers).status_code

    assert status("198.51.100.7") == 200
    assert status("198.51.100.7") == 429
    assert status("198.51.100.8") == 200
    assert status("198.51.100.9, 198.51.100.8") == 429  # the client itself writes what is left of its address


def test_the_limit_is_the_rate_by_default():
    app = app_with(rate=4)
    statuses = [ask(app, "GET", "/nowhere").status_code for _ in range(6)]
    assert statuses[:4] == [404] * 4
    assert 429 in statuses[4:]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tokens": TOKEN}, "lists of str"),
        ({"tokens": [TOKEN], "token_file": "tokens"}, "not both"),
        ({"open_metrics": True}, "no tokens are given"),
        ({"rate": 0}, "above 0 and up to 1e\\+06, not 0"),
        ({"rate": float("nan")}, "above 0"),
        ({"rate": -1}, "above 0"),
        ({"rate": 1, "burst": 0}, "burst must be from 1"),
        ({"burst": 5}, "a burst needs a rate limit"),
        ({"trusted_proxies": ["::1"]}, "a trusted proxy needs a rate limit"),
        ({"limit_by": "address"}, "limit_by needs a rate limit"),
        ({"rate": 1, "limit_by": "name"}, "by token or address, not by 'name'"),
        ({"rate": 1, "limit_by": "token"}, "only if tokens are needed"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(InvalidInputError, match=words):
        Access(**options)


def test_tokens_are_not_shown():
    assert TOKEN not in repr(Access(tokens=[TOKEN]))


# --- The OpenAPI document -----------------------------------------------------------------------------------


def test_the_document_names_what_is_needed():
    document = ask(app_with(tokens=[TOKEN], rate=5), "GET", "/openapi.json", headers=AS_CLIENT).json()
    assert document["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert ("security" in operation) == (path != "/healthz")
            assert (
                ("401" in operation["responses"]) == ("429" in operation["responses"]) == (path != "/healthz")
            )
    plain = ask(create_app(predictor("classes")), "GET", "/openapi.json").json()
    assert "securitySchemes" not in plain["components"]


# --- Over a socket ------------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    predictor("classes").save(tmp_path / "m.budgetprune")
    return tmp_path / "m.budgetprune"


DECIDE = json.dumps(BODY).encode()


def test_early_answers_are_checked(model, tmp_path):
    """Requests that are answered before the app sees them need a token, too, and count once."""
    (tmp_path / "tokens").write_text(f"{TOKEN}\n{OTHER}\n")
    options = ("--token-file", str(tmp_path / "tokens"), "--rate-limit", "0.001", "--rate-burst", "5")
    with running(model, *options) as service, service.connect() as connection:
        reader = Reader(connection)

        def status(*headers: str) -> int:
            connection.sendall(request("POST", "/v1/decide", DECIDE, headers=headers))
            return reader.read().status

        good = f"authorization: Bearer {TOKEN}"
        assert status() == 401
        assert status("authorization: Bearer wrong-but-long-enough") == 401
        assert status(good, good) == 401
        assert [status(good) for _ in range(7)] == [200] * 5 + [429] * 2
        assert status(f"authorization: Bearer {OTHER}") == 200
        # a bad request counts once, though the app answers it
        bad = request("POST", "/v1/decide", b"{", headers=(f"authorization: Bearer {OTHER}",))
        connection.sendall(bad * 5)
        assert [reader.read().status for _ in range(5)] == [400] * 4 + [429]
        # two of the five guesses of this address are left
        assert [status() for _ in range(3)] == [401] * 2 + [429]
        assert service.end() == 0


def test_tokens_in_the_environment(model):
    with running(model, environment={"BUDGETPRUNE_TOKENS": f"{TOKEN} {OTHER}"}) as service:
        assert httpx.get(f"{service.url}/v1/model").status_code == 401
        for headers in (AS_CLIENT, AS_OTHER):
            assert httpx.get(f"{service.url}/v1/model", headers=headers).status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot share the socket")
def test_all_workers_share_tokens_and_limits(model, tmp_path):
    file = tmp_path / "tokens"
    file.write_text(TOKEN)
    options = ("--workers", "2", "--token-file", str(file), "--rate-limit", "0.001", "--rate-burst", "20")
    with running(model, *options) as service:

        def statuses(n: int, headers: dict[str, str]) -> list[int]:
            """Use a new connection for each request, so that workers take turns."""
            return [
                httpx.post(
                    f"{service.url}/v1/decide", json=BODY, headers=headers, timeout=PATIENCE
                ).status_code
                for _ in range(n)
            ]

        assert statuses(24, AS_CLIENT) == [200] * 20 + [429] * 4
        other = tmp_path / "other"
        other.write_text(OTHER)
        os.replace(other, file)
        end = time.monotonic() + PATIENCE
        while (found := {*statuses(2, AS_CLIENT)}) != {401}:
            assert found <= {401, 429}
            assert time.monotonic() < end
            time.sleep(0.2)
        assert 200 in statuses(3, AS_OTHER)
        text = httpx.get(f"{service.url}/metrics", headers=AS_OTHER, timeout=PATIENCE).text
        counted = dict(re.findall(r'endpoint="/v1/decide",status="(\d+)"\} (\S+)', text))
        assert float(counted["429"]) >= 4
        assert float(counted["200"]) >= 21
        assert service.end() == 0
