"""The command line: one line and a status for what goes wrong, never a traceback."""

from __future__ import annotations

import re
import socket
import sys

import pytest

from budgetprune import __version__, cli

from ..service.models import GOLDEN

MODEL = str(GOLDEN / "averaged-1.budgetprune")


def run(monkeypatch, capfd, *words):
    """Call `main` as the console script does."""
    monkeypatch.setattr(sys, "argv", ["budgetprune", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capfd.readouterr()
    return end.value.code, said.out, said.err


def check_failure(found, words, expected=1):
    status, out, err = found
    assert status == expected
    assert out == ""
    assert re.fullmatch(rf"budgetprune: error: .*{words}.*\n", err), err


def test_version(monkeypatch, capfd):
    assert run(monkeypatch, capfd, "--version") == (0, f"budgetprune {__version__}\n", "")


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_models_that_cannot_be_loaded(monkeypatch, capfd, tmp_path, options):
    (tmp_path / "text").write_text("hello")
    for name, words in (
        ("nothing", "cannot be served: .*nothing"),
        ("", "cannot be served: .*directory"),
        ("text", "not a model that budgetprune saved"),
    ):
        check_failure(run(monkeypatch, capfd, "serve", str(tmp_path / name), *options), words, 2)


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_a_port_that_is_taken(monkeypatch, capfd, options):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        found = run(monkeypatch, capfd, "serve", MODEL, "--port", str(port), *options)
    check_failure(found, f"cannot listen at 127.0.0.1, port {port}: .*in use")


def test_a_host_that_is_none(monkeypatch, capfd):
    for host in ("256.0.0.1.invalid", "a" * 100):
        check_failure(run(monkeypatch, capfd, "serve", MODEL, "--host", host), f"cannot listen at {host}")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        (
            "--allowed-hosts",
            "api.example,http://api.example",
            "allowed hosts: 'http://api.example' is not a host",
        ),
        ("--workers", "1000000", "workers must be at most .* on this machine, not 1000000"),
        ("--body-timeout", "inf", "body_timeout must be seconds, finite and above 0, not inf"),
        ("--token-file", "/nowhere/tokens", "the token file /nowhere/tokens cannot be read: .*"),
        ("--rate-limit", "0", "the rate limit must be requests per second, above 0"),
        ("--rate-burst", "3", "a burst needs a rate limit"),
        ("--trusted-proxy", "10.0.0.1", "a trusted proxy needs a rate limit"),
    ],
)
def test_options_that_are_wrong(monkeypatch, capfd, option, value, words):
    check_failure(run(monkeypatch, capfd, "serve", MODEL, option, value), words, 2)


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ("", "BUDGETPRUNE_TOKENS is set, but has no tokens; unset it if none are needed"),
        ("   ", "BUDGETPRUNE_TOKENS is set, but has no tokens"),
        ("hush", "token 1 is not a token"),
    ],
)
def test_tokens_in_the_environment_that_are_wrong(monkeypatch, capfd, tokens, words):
    """A service must not start without tokens if they were meant to be needed."""
    monkeypatch.setenv("BUDGETPRUNE_TOKENS", tokens)
    found = run(monkeypatch, capfd, "serve", MODEL)
    check_failure(found, words, 2)
    assert "hush" not in found[2]


def test_tokens_in_two_places(monkeypatch, capfd, tmp_path):
    (tmp_path / "tokens").write_text("token-in-the-file-0001")
    monkeypatch.setenv("BUDGETPRUNE_TOKENS", "token-in-the-environment")
    found = run(monkeypatch, capfd, "serve", MODEL, "--token-file", str(tmp_path / "tokens"))
    check_failure(found, "give tokens in --token-file or in BUDGETPRUNE_TOKENS, not in both", 2)


@pytest.mark.parametrize(
    ("package", "extra"), [("typer", "cli"), ("fastapi", "serve"), ("uvicorn", "serve"), ("orjson", "serve")]
)
def test_an_extra_that_is_not_installed(monkeypatch, capfd, package, extra):
    ours = ("budgetprune.commands.serve", "budgetprune.commands.app", "budgetprune.service")
    for name in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails now
    found = run(monkeypatch, capfd, "serve", MODEL)
    check_failure(found, rf"{package} is not installed; run: pip install 'budgetprune\[{extra}\]'")


@pytest.mark.parametrize(
    "words",
    [
        ["serve"],
        ["bake"],
        ["serve", MODEL, "--port", "70000"],
        ["serve", MODEL, "--max-batch", "0"],
        *(["serve", MODEL, "--workers", n] for n in ("0", "-1", "two", "1.5")),
    ],
)
def test_usage(monkeypatch, capfd, words):
    status, out, err = run(monkeypatch, capfd, *words)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"budgetprune: error: .*; see: budgetprune( serve)? --help\n", err), err
