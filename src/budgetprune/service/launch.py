"""Start the service: in this process, or in several workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from budgetprune.predictor import BudgetPredictor
from budgetprune.service.gate import Gate
from budgetprune.service.hosts import Hosts
from budgetprune.service.listener import bind, url_of
from budgetprune.service.options import ServerOptions
from budgetprune.service.served import ServedModel
from budgetprune.utils.limits import Limits


def run(
    predictor: BudgetPredictor | ServedModel,
    options: ServerOptions | None = None,
    *,
    when_ready: Callable[[str], None] = lambda address: None,
    **settings: Any,
) -> None:
    """Serve a predictor until SIGINT or SIGTERM; requests that have arrived are still answered.

    Parameters
    ----------
    predictor : BudgetPredictor or ServedModel
    options : ServerOptions, optional
    when_ready : callable
        Called with the address once connections are accepted, by all workers if there are several.
    **settings
        Fields of `ServerOptions`, instead of those in `options`.

    Raises
    ------
    OSError
        If the address cannot be bound.
    InvalidInputError
        If one of the options is invalid.
    WorkerError
        If workers cannot start.
    """
    if "limits" in settings and settings["limits"] is None:
        settings["limits"] = Limits()
    options = replace(options or ServerOptions(), **settings)
    Hosts(options.host, options.allowed_hosts)  # validates them, as the next line does
    Gate.of(options.access)
    with bind(options.host, options.port) as listener:

        def tell() -> None:
            when_ready(url_of(listener))

        if options.workers == 1:
            from budgetprune.service.server import serve

            serve(ServedModel.of(predictor), listener, options, when_ready=tell)
        else:  # and this process does not import what only workers need
            from budgetprune.service.supervisor import supervise

            supervise(ServedModel.of(predictor), listener, options, when_ready=tell)
