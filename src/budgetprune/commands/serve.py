"""``budgetprune serve``."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetprune.commands.failures import WRONG, check_installed, fail
from budgetprune.errors import BudgetPruneError, InvalidInputError
from budgetprune.utils.limits import Limits

if TYPE_CHECKING:
    from budgetprune.service import Access

# Environment variable with tokens, separated by spaces.
TOKENS = "BUDGETPRUNE_TOKENS"
PACKAGES = ("fastapi", "starlette", "uvicorn", "httptools", "prometheus_client", "orjson", "pydantic")


class LogLevel(StrEnum):
    """Log level of the service."""

    critical = "critical"
    error = "error"
    warning = "warning"
    info = "info"
    debug = "debug"


class LimitBy(StrEnum):
    """Definition of a client."""

    token = "token"
    address = "address"


@dataclass(frozen=True)
class ServeArguments:
    """Arguments and options of ``budgetprune serve``."""

    model: Annotated[Path, typer.Argument(help="Model file written by fit, prune or BudgetPredictor.save.")]
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 selects a free one.")] = 8000
    max_body: Annotated[
        int, typer.Option(min=1, help="Maximum number of bytes of a request for one example.")
    ] = Limits.body
    max_batch: Annotated[int, typer.Option(min=1, help="Maximum number of rows of a batch.")] = (
        Limits.batch_rows
    )
    max_batch_body: Annotated[int, typer.Option(min=1, help="Maximum number of bytes of a batch.")] = (
        Limits.batch_body
    )
    max_streams: Annotated[
        int, typer.Option(min=1, help="Maximum number of streams that are open at one time, in all workers.")
    ] = Limits.streams
    max_header_bytes: Annotated[
        int, typer.Option(min=1, help="Maximum number of bytes of all headers of a request.")
    ] = Limits.header_bytes
    max_headers: Annotated[int, typer.Option(min=1, help="Maximum number of headers of a request.")] = (
        Limits.headers
    )
    max_connections: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number of open connections. [default: 1000, or what descriptors allow]",
        ),
    ] = Limits.connections
    header_timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds in which all headers of a request must arrive.")
    ] = Limits.header_timeout
    body_timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds in which the body of a request must arrive.")
    ] = Limits.body_timeout
    keep_alive: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a connection may be idle between two requests.")
    ] = Limits.keep_alive
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option(
            help="Accepted host name of the service; may be repeated; '*' allows all. Always "
            "allowed: localhost, 127.0.0.1, [::1] and --host; every address if that is 0.0.0.0 or ::."
        ),
    ] = None
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds after a signal until pending requests are rejected.")
    ] = 30
    drain: Annotated[
        float, typer.Option(min=0, help="Seconds after a signal in which new requests get status 503.")
    ] = 1
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of processes that answer requests; more than one per processor is of no use. "
            "Several are replaced when they die.",
        ),
    ] = 1
    log_level: Annotated[LogLevel, typer.Option(help="Log level.")] = LogLevel.warning
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with one token per line. Every request except /healthz needs one of them. The file is "
            f"read again when it changes. Without it, tokens are taken from the variable {TOKENS}.",
        ),
    ] = None
    open_metrics: Annotated[bool, typer.Option("--open-metrics", help="Let /metrics need no token.")] = False
    rate_limit: Annotated[
        float | None, typer.Option(help="Requests per second of a client. [default: no limit]")
    ] = None
    rate_burst: Annotated[
        int | None,
        typer.Option(help="Requests of a client that may come at once. [default: those of one second]"),
    ] = None
    limit_by: Annotated[
        LimitBy | None,
        typer.Option(help="Limit clients by token or by address. [default: by token if tokens are needed]"),
    ] = None
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="Address or network of a proxy, whose X-Forwarded-For gives the addresses of clients; may "
            "be repeated."
        ),
    ] = None
    offer_model: Annotated[
        bool,
        typer.Option(
            "--offer-model",
            help="Let clients download the model file at /v1/model/file, and with ?budget= models for other "
            "budgets, as rebudget makes them.",
        ),
    ] = False
    unit: Annotated[str, typer.Option(show_default=False, help="Unit of prices, for /v1/model.")] = ""


def serve(arguments: ServeArguments) -> None:
    """Serve one model over HTTP, as JSON.

    Clients post the known values and get a decision or the next source to acquire. There is no encryption:
    listen on addresses other than loopback only behind a proxy that adds TLS.

    Example: budgetprune serve ill.budgetprune --port 8000
    """
    model, host, port = arguments.model, arguments.host, arguments.port
    check_installed("serve", *PACKAGES)
    from budgetprune.service import ServedModel, ServerOptions, WorkerError, run

    try:
        served = ServedModel.load(model, unit=arguments.unit, offer=arguments.offer_model)
    # TypeError: for example, options of a later version.
    except (BudgetPruneError, OSError, TypeError) as error:
        fail(f"{model} cannot be served: {error}", WRONG)

    def show_address(address: str) -> None:
        typer.echo(f"budgetprune: serving {model} at {address}")
        if not _is_loopback(host):
            typer.echo(f"budgetprune: {_warning(host, options.access)}", err=True)

    try:
        options = ServerOptions(
            host=host,
            port=port,
            limits=Limits(
                body=arguments.max_body,
                batch_rows=arguments.max_batch,
                batch_body=arguments.max_batch_body,
                streams=arguments.max_streams,
                header_bytes=arguments.max_header_bytes,
                headers=arguments.max_headers,
                connections=arguments.max_connections,
                header_timeout=arguments.header_timeout,
                body_timeout=arguments.body_timeout,
                keep_alive=arguments.keep_alive,
            ),
            allowed_hosts=[name for names in arguments.allowed_hosts or () for name in names.split(",")],
            grace=arguments.grace,
            drain=arguments.drain,
            log_level=arguments.log_level.value,
            workers=arguments.workers,
            access=_access(arguments),
        )
        run(served, options, when_ready=show_address)
    except InvalidInputError as error:
        fail(str(error), WRONG)
    except WorkerError as error:
        fail(f"{model} cannot be served: {error}.")
    except OSError as error:
        fail(f"cannot listen at {host}, port {port}: {error}; choose another --port, or 0 for any.")


def _access(arguments: ServeArguments) -> Access:
    """Read the options about tokens and limits; tokens may be in the environment."""
    from budgetprune.service import Access

    tokens = os.environ.get(TOKENS)
    if tokens is not None:
        if arguments.token_file is not None:
            raise InvalidInputError(f"give tokens in --token-file or in {TOKENS}, not in both.")
        if not tokens.split():
            raise InvalidInputError(f"{TOKENS} is set, but has no tokens; unset it if none are needed.")
    return Access(
        tokens=() if tokens is None else tokens.split(),
        token_file=arguments.token_file,
        open_metrics=arguments.open_metrics,
        rate=arguments.rate_limit,
        burst=arguments.rate_burst,
        limit_by=None if arguments.limit_by is None else arguments.limit_by.value,
        trusted_proxies=[name for names in arguments.trusted_proxy or () for name in names.split(",")],
    )


def _warning(host: str, access: Access) -> str:
    if access.needs_token:
        return f"there is no encryption: tokens can be read on the way to {host} unless a proxy adds TLS."
    return f"no token is needed: anyone who can reach {host} can send requests; see --token-file."


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
