"""Concurrent acquisition: several pending requests, results in any order, cancellation."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from numbers import Integral
from typing import Any

from budgetprune.errors import AcquisitionError, InvalidInputError
from budgetprune.predictor.checks import check_number, check_on_error
from budgetprune.predictor.decision import Decision
from budgetprune.predictor.example import Example

Fetch = Callable[[str], Awaitable[Any]]


class _NotAsyncError(InvalidInputError):
    """Raised if `fetch` does not return an awaitable."""


async def acquire_concurrently(
    example: Example, fetch: Fetch, concurrency: int, timeout: float | None, on_error: str
) -> Decision:
    """Implement `BudgetPredictor.adecide`. No request is pending when it returns or raises."""
    _check(fetch, concurrency, timeout, on_error)
    pending: dict[asyncio.Task[Any], int] = {}
    try:
        while True:
            is_decided, source, is_wanted = example.status()
            while not is_decided and source is not None and len(pending) < concurrency:
                example.request(source)
                request = _request(fetch, example.engine.source_names[source], timeout)
                pending[asyncio.create_task(request)] = source
                is_decided, source, is_wanted = example.status()
            unneeded = {task: s for task, s in pending.items() if is_decided or not is_wanted[s]}
            await _cancel(unneeded)
            for task, s in unneeded.items():
                del pending[task]
                example.withdraw(s)
            if not pending:
                return example.decision()
            done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            finished = {task: pending.pop(task) for task in tuple(pending) if task in done}
            _store(example, finished, list(pending.values()), on_error)
    finally:
        await _cancel(pending)


async def _request(fetch: Fetch, source: str, timeout: float | None) -> Any:
    async with asyncio.timeout(timeout):
        found = fetch(source)
        if not inspect.isawaitable(found):
            raise _NotAsyncError("fetch must be a coroutine function; for an ordinary one, use decide.")
        return await found


def _store(
    example: Example, finished: dict[asyncio.Task[Any], int], pending: list[int], on_error: str
) -> None:
    """Store all results before any error is raised, so that the error's decision includes them."""
    errors: dict[int, BaseException] = {}
    invalid: list[AcquisitionError] = []
    for task, s in finished.items():
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None:
            example.mark_unavailable(s)
            errors[s] = error
    for task, s in finished.items():
        if s not in errors:
            try:
                example.receive(s, task.result())
            except AcquisitionError as found:
                invalid.append(found)
    # After an error, the other sources can be requested again.
    if invalid or (errors and on_error == "raise"):
        for other in pending:
            example.withdraw(other)
    for error_of_value in invalid:
        raise example.with_current_decision(error_of_value) from error_of_value.__cause__
    for s, cause in errors.items():
        if isinstance(cause, _NotAsyncError) or not isinstance(cause, Exception | asyncio.CancelledError):
            raise cause
        if on_error == "raise":
            raise example.error(s, cause) from cause


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel requests and wait until all have ended, even if this task is cancelled meanwhile."""
    for task in tasks:
        task.cancel()
    cancelled: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            cancelled = error
    for task in tasks:
        if not task.cancelled():
            task.exception()  # asyncio warns about exceptions that are never retrieved
    if cancelled is not None:
        raise cancelled


def _check(fetch: Any, concurrency: Any, timeout: Any, on_error: Any) -> None:
    if not callable(fetch):
        raise InvalidInputError(f"fetch must be a coroutine function, not {type(fetch).__name__}.")
    if not isinstance(concurrency, Integral) or isinstance(concurrency, bool) or concurrency < 1:
        raise InvalidInputError(f"concurrency must be a whole number from 1, not {concurrency!r}.")
    if timeout is not None and not check_number("timeout", timeout) > 0:
        raise InvalidInputError(f"timeout must be positive, or None for none, not {timeout!r}.")
    check_on_error(on_error)
