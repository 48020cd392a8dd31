"""``budgetprune serve``."""

from __future__ import annotations

import ipaddress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from budgetprune._commands._failures import WRONG, fail, needs_extra
from budgetprune._limits import Limits
from budgetprune.errors import BudgetPruneError
from budgetprune.predictor import BudgetPredictor


class LogLevel(StrEnum):
    """How much of what happens is told."""

    critical = "critical"
    error = "error"
    warning = "warning"
    info = "info"
    debug = "debug"


def serve(
    model: Annotated[Path, typer.Argument(help="A file that fit, prune or BudgetPredictor.save wrote.")],
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request about one example.")] = Limits.body,
    max_batch: Annotated[int, typer.Option(min=1, help="Rows of a batch.")] = Limits.batch_rows,
    max_batch_body: Annotated[int, typer.Option(min=1, help="Bytes of a batch.")] = Limits.batch_body,
    grace: Annotated[
        int, typer.Option(min=0, help="Seconds that requests in flight may take to end after a signal.")
    ] = 30,
    log_level: Annotated[LogLevel, typer.Option(help="How much is told.")] = LogLevel.warning,
) -> None:
    """Answer questions about one model over HTTP, as JSON.

    Clients post the values they have, and get a decision or the source to acquire next. There is no
    authentication: listen on other addresses than this machine's own only behind something that has one.

    Example: budgetprune serve ill.budgetprune --port 8000
    """
    with needs_extra("serve", "fastapi", "starlette", "uvicorn", "prometheus_client", "orjson", "pydantic"):
        from budgetprune.service import run
    try:
        predictor = BudgetPredictor.load(model)
    # A file with options of a later version, say, is a TypeError.
    except (BudgetPruneError, OSError, TypeError) as error:
        fail(f"{model} cannot be served: {error}", WRONG)

    def tell(address: str) -> None:
        typer.echo(f"budgetprune: serving {model} at {address}")
        if not _is_loopback(host):
            typer.echo(f"budgetprune: there is no authentication: whoever reaches {host} can ask.", err=True)

    try:
        run(
            predictor,
            host=host,
            port=port,
            limits=Limits(max_body, max_batch, max_batch_body),
            grace=grace,
            log_level=log_level.value,
            when_ready=tell,
        )
    except OSError as error:
        fail(f"cannot listen at {host}, port {port}: {error}; choose another --port, or 0 for any.")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
