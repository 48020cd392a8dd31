"""What makes no sense is refused over a real socket, with a message and never with a 500."""

from __future__ import annotations

import json

import pytest

from .conftest import MAX_BATCH, MAX_BATCH_BODY, MAX_BODY
from .models import rows
from .servers import check_refused

JSON = {"content-type": "application/json"}
POSTS = ("/v1/step", "/v1/decide", "/v1/batch", "/v1/batch/decide")
ROW = rows("classes", 1)[0]


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        (b"", 400, "not valid JSON"),
        (b"{", 400, "not valid JSON"),
        (b'{"values": {"x0": NaN}}', 400, "not valid JSON"),
        (b'{"values": {"x0": Infinity}}', 400, "not valid JSON"),
        (b'{"values": {"x0": -Infinity}}', 400, "not valid JSON"),
        (b'{"values": {"x0": 1e400}}', 400, "infinity"),
        (b'{"values": {"x0": ' + b"9" * 400 + b"}}", 400, "infinity"),
        (b'{"values": {"x0": 1}} {}', 400, "not valid JSON"),
        (b'{"values": {"\xff": 1}}', 400, "UTF-8"),
        (b'{"values": {"\\ud800": 1}}', 400, "surrogate"),
        (b'\xef\xbb\xbf{"values": {}}', 400, "BOM"),
        (b"[" * 3000, 400, "depth"),
        (b'{"values": {"x0": ' + b"[" * 20 + b"]" * 20 + b"}}", 422, "number or a string, not a list"),
        (b'{"values": {}, "max_cost": ' + b"[" * 20 + b"]" * 20 + b"}", 422, "max_cost must be a number"),
        (b'{"values": {}, "acquired": ' + b"[" * 20 + b"]" * 20 + b"}", 422, "list of names"),
        (b"[" * 20 + b"]" * 20, 422, "must be an object"),
        (b"[" * 1000 + b"]" * 1000, 400, "depth of 1000; the limit is 32"),
        (b'{"values": {"x0": ' + b"[" * 31 + b"]" * 31 + b"}}", 400, "depth of 33; the limit is 32"),
        (b"[" + b"[]," * 1000 + b"[]]", 413, "1002 lists and objects; the limit for it is 1000"),
        (b"null", 422, "must be an object, not null"),
        (b'{"values": {"x0": 1e39}}', 422, "'x0'.*too large"),
        (b'{"values": {"x0": 1, "x0": 2}}', 422, "the body has the key 'x0' more than once"),
        (b'{"values": {"x0": 1, "\\u00780": 2}}', 422, "the body has the key 'x0' more than once"),
        (b'{"values": {"x0": 1}, "values": {}}', 422, "the body has the key 'values' more than once"),
    ],
)
def test_bytes(client, raw, status, words):
    check_refused(client.post("/v1/step", content=raw, headers=JSON), status, words)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"rows": [{"values": {"x0": 1, "x0": 2}}]}', r"rows\[0\] has the key 'x0' more than once"),
        (b'{"rows": [{"values": {}, "values": {}}]}', r"rows\[0\] has the key 'values' more than once"),
        (b'{"rows": [{"values": {}}], "rows": []}', "the body has the key 'rows' more than once"),
        (b'{"rows": [], "rows": [{"values": {}}]}', "the body has the key 'rows' more than once"),
    ],
)
def test_keys_of_batches_that_occur_twice(client, raw, words):
    check_refused(client.post("/v1/batch", content=raw, headers=JSON), 422, words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "must have the field 'values'"),
        ({"values": None}, "values must be an object, not null"),
        ({"values": []}, "values must be an object, not a list"),
        ({"values": {"age": 1}}, "no feature 'age'"),
        ({"values": {"x0": "old"}}, "'x0' must be a number"),
        ({"values": {"x0": {}}}, "'x0' must be a number or a string, not an object"),
        ({"values": {}, "known": {"age": 1}}, "no feature 'age'"),
        ({"values": {}, "known": 1}, "known must be an object, not a number"),
        ({"values": {}, "acquired": "scan"}, "acquired must be a list of names"),
        ({"values": {}, "acquired": [1]}, "acquired must be a list of names"),
        ({"values": {}, "acquired": ["nose"]}, "no source 'nose'"),
        ({"values": {}, "acquired": ["blood"]}, "no value for 'x1'"),
        ({"values": {}, "unavailable": ["nose"]}, "no source 'nose'"),
        ({"values": {}, "unavailable": {}}, "unavailable must be a list of names"),
        ({"values": {}, "max_cost": "1"}, "max_cost must be a number, not a string"),
        ({"values": {}, "max_cost": True}, "max_cost must be a number, not a boolean"),
        ({"values": {}, "max_cost": -1}, "max_cost must not be negative"),
        ({"values": {}, "value": {}}, "unknown fields: 'value'"),
        ({"values": {"x" * 3000: 1}}, r"no feature 'x+\.\.\.$"),
    ],
)
def test_steps(client, body, words):
    check_refused(client.post("/v1/step", json=body), 422, words)
    check_refused(
        client.post("/v1/batch", json={"rows": [{"values": {}}, body]}), 422, rf"^rows\[1\]: .*{words}"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x3": "old"}, "'x3' must be a number"),
        ({"x3": 1e39}, "'x3'.*too large"),
        ({"x3": []}, "'x3' must be a number or a string"),
        ({"age": 3}, "no feature 'age'"),
    ],
)
def test_complete_rows_are_read_completely(client, change, words):
    """Even where the value would not have been needed."""
    check_refused(client.post("/v1/decide", json={"values": ROW | change}), 422, words)


def test_rows_that_are_not_complete(client):
    values = {name: value for name, value in ROW.items() if name != "x4"}
    check_refused(client.post("/v1/decide", json={"values": values}), 422, "no value for 'x4'")
    check_refused(
        client.post("/v1/decide", json={"values": ROW, "known": {}}), 422, "unknown fields: 'known'"
    )


def test_the_first_bad_rows_are_named(client):
    bad = [{"values": {"age": 1}}, 3, {"values": {}}, *[{}] * 9]
    response = client.post("/v1/batch", json={"rows": bad})
    check_refused(response, 422, r"^rows\[0\]: .* rows\[1\]: .* rows\[3\]: ")
    assert "rows[2]" not in response.text
    assert response.json()["error"]["where"] == "rows[0]"
    for body in ({}, {"rows": {}}, {"rows": [], "row": 1}):
        assert client.post("/v1/batch", json=body).status_code == 422


# --- Limits -------------------------------------------------------------------------------------------------


def padded(body: dict, size: int) -> bytes:
    text = json.dumps(body).encode()
    return text + b" " * (size - len(text))


@pytest.mark.parametrize("path", POSTS)
def test_bytes_of_a_body(client, path):
    limit = MAX_BATCH_BODY if "batch" in path else MAX_BODY
    body = {"rows": []} if "batch" in path else {"values": ROW}
    assert client.post(path, content=padded(body, limit), headers=JSON).status_code == 200
    refused = client.post(path, content=padded(body, limit + 1), headers=JSON)
    check_refused(refused, 413, f"more than {limit} bytes")
    # In chunks, nothing says beforehand how long it will be.
    raw = padded(body, limit + 1)
    chunks = (raw[i : i + 1000] for i in range(0, len(raw), 1000))
    check_refused(client.post(path, content=chunks, headers=JSON), 413, f"more than {limit} bytes")
    raw = padded(body, limit)
    chunks = (raw[i : i + 1000] for i in range(0, len(raw), 1000))
    assert client.post(path, content=chunks, headers=JSON).status_code == 200


def test_rows_of_a_batch(client):
    body = {"rows": [{"values": {}}] * (MAX_BATCH + 1)}
    check_refused(client.post("/v1/batch", json=body), 422, f"{MAX_BATCH + 1} rows, .* {MAX_BATCH} at most")


# --- HTTP ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "a/json"])
def test_bodies_that_do_not_claim_to_be_json(client, path, kind):
    headers = {} if kind is None else {"content-type": kind}
    check_refused(client.post(path, content=b"{}", headers=headers), 415, "Content-Type: application/json")


def test_other_spellings_of_json(client):
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        response = client.post("/v1/step", content=b'{"values": {}}', headers={"content-type": kind})
        assert response.status_code == 200


def test_paths_and_methods(client):
    check_refused(client.get("/v1/steps"), 404, "Not Found")
    check_refused(client.get("/v1/step/"), 404, "Not Found")
    check_refused(client.get("/%ff"), 404, "Not Found")
    for path in POSTS:
        refused = client.get(path)
        check_refused(refused, 405, "Method Not Allowed")
        assert refused.headers["allow"] == "POST"
    check_refused(client.delete("/healthz"), 405, "Method Not Allowed")


def test_a_client_that_hangs_up(service, client):
    """It is nobody's error, and the next one is served."""
    for sent in (b"", b"POST /v1/step HTTP/1.1\r\n", request_head(100), request_head(100) + b'{"val'):
        with service.connect() as connection:
            connection.sendall(sent)
    assert client.get("/healthz").status_code == 200


def test_what_is_no_http(service):
    for sent in (b"\x16\x03\x01\x00\xa5\x01\x00\r\n\r\n", request_head("many"), request_head(-1)):
        with service.connect() as connection:
            connection.sendall(sent)
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def request_head(length) -> bytes:
    lines = ["POST /v1/step HTTP/1.1", "host: localhost", "content-type: application/json"]
    return "\r\n".join([*lines, f"content-length: {length}", "", ""]).encode()


def test_no_error_of_the_service_so_far(client):
    """The last one in this file: all of the above is business as usual."""
    client.get("/nowhere")
    text = client.get("/metrics").text
    assert 'endpoint="(other)",status="404"' in text
    assert 'status="5' not in text


def test_colons_in_strings_are_no_keys(client):
    body = {"values": {"x0": 0.5}, "unavailable": ["a:b"]}
    check_refused(client.post("/v1/step", json=body), 422, "no source 'a:b'")
    body = b'{"rows": [{"values": {"x0": 1}}, {"values": {"x0": 1, "x0": 2}}]}'
    answer = client.post("/v1/batch", content=body, headers=JSON)
    check_refused(answer, 422, r"rows\[1\] has the key 'x0' more than once")
