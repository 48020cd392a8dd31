"""The configuration of docs/how-to/serve-with-tls.md in a real nginx, where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from .models import predictor, rows
from .servers import PATIENCE, check_refused, running

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = pytest.mark.skipif(
    NGINX is None or shutil.which("openssl") is None, reason="nginx or openssl is not installed"
)

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "serve-with-tls.md").read_text(encoding="utf-8")
HOST, TOKEN = "scores.example", "token-of-the-proxy-test"
HEADERS = {"authorization": f"Bearer {TOKEN}"}
# What the page leaves to the installation: all files are in one folder.
AROUND = """
daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    {site}
}}
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("proxy")
    model, tokens = folder / "m.budgetprune", folder / "tokens"
    predictor("classes").save(model)
    tokens.write_text(TOKEN)
    key, certificate, port = folder / "key", folder / "certificate", free_port()
    subprocess.run(
        [
            *["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"],
            *["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"],
            *["-keyout", key, "-out", certificate],
        ],
        check=True,
        capture_output=True,
    )
    options = ["--token-file", str(tokens), "--rate-limit", "0.01", "--rate-burst", "40"]
    options += ["--limit-by", "address", "--trusted-proxy", "127.0.0.1", "--allowed-hosts", HOST]
    with running(model, *options) as service:
        found = re.search(r"```nginx\n(.*?)```", PAGE, flags=re.DOTALL)
        assert found
        site = found[1]
        for old, new in (
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("server 127.0.0.1:8000", f"server 127.0.0.1:{service.port}"),
            ("/etc/ssl/scores.example.pem", str(certificate)),
            ("/etc/ssl/scores.example.key", str(key)),
        ):
            assert site.count(old) == 1
            site = site.replace(old, new)
        (folder / "nginx.conf").write_text(AROUND.format(folder=folder, site=site))
        command = [str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf")]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as proxy:
            try:
                wait_for(port, proxy)
                context = ssl.create_default_context(cafile=str(certificate))
                with httpx.Client(
                    base_url=f"https://127.0.0.1:{port}",
                    verify=context,
                    headers={"host": HOST},
                    timeout=PATIENCE,
                    event_hooks={"request": [lambda sent: sent.extensions.update(sni_hostname=HOST)]},
                ) as opened:
                    yield opened
            finally:
                proxy.terminate()
                proxy.wait(PATIENCE)


def wait_for(port: int, proxy: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert proxy.poll() is None, proxy.stderr and proxy.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            return


def test_tokens_and_decisions(client):
    row = rows("classes", 1)[0]
    check_refused(client.post("/v1/decide", json={"values": row}), 401, "needs a token")
    answer = client.post("/v1/decide", json={"values": row}, headers=HEADERS).json()
    assert answer["label"] == predictor("classes").decide(row).label
    check_refused(client.get("/v1/model", headers=HEADERS | {"host": "other.example"}), 421, "other.example")
    assert client.get("/metrics", headers=HEADERS).status_code == 403


def test_streams_pass_through(client):
    some = rows("classes", 5)

    def lines() -> Iterator[bytes]:
        for row in some:
            yield json.dumps({"values": row}).encode() + b"\n"

    with client.stream(
        "POST",
        "/v1/stream/decide",
        content=lines(),
        headers=HEADERS | {"content-type": "application/x-ndjson"},
    ) as response:
        assert response.status_code == 200
        costs = [json.loads(line)["cost"] for line in response.iter_lines()]
    assert costs == [predictor("classes").decide(row).cost for row in some]


def test_clients_are_limited_by_the_address_that_the_proxy_saw(client):
    """Whatever a client writes into the header that the proxy replaces."""
    statuses = [
        client.get("/v1/model", headers=HEADERS | {"x-forwarded-for": f"198.51.100.{k}"}).status_code
        for k in range(50)
    ]
    assert 429 in statuses
    assert statuses == sorted(statuses)
