"""A service in a separate process, and ways to talk to it or to an app in this one."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx

PATIENCE = 120  # seconds, for busy machines


class Running:
    """A service that was started."""

    def __init__(self, process: subprocess.Popen[str], line: str) -> None:
        self.process, self.line = process, line
        found = re.fullmatch(r"budgetprune: serving .+ at (http://([\d.]+):(\d+))\n", line)
        assert found, line
        self.url, self.host, self.port = found[1], found[2], int(found[3])

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)

    def wait_until_refused(self) -> None:
        """Wait until no more connections are accepted."""
        with suppress(ConnectionRefusedError):
            while True:
                with suppress(ConnectionResetError):  # it was in the backlog at the end
                    self.connect().close()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def running(
    model: Path, *options: str, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Running]:
    """Start a service at a free port; whatever happens, it is gone afterwards."""
    command = [sys.executable, "-m", "budgetprune", "serve", str(model), "--port", "0", *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            watchdog.cancel()
            yield Running(process, line)
        finally:
            watchdog.cancel()
            process.kill()


def ask(app: Any, method: str, path: str, **options: Any) -> httpx.Response:
    """Ask an app in this process."""

    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.request(method, path, **options)

    return asyncio.run(go())


def check_refused(response: httpx.Response, status: int, words: str) -> None:
    """Every refusal has the same shape and says why."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"message", "where"}
    assert re.search(words, body["error"]["message"]), body
