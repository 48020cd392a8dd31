"""Download of the model file, and of models for other budgets that are made of it."""

from __future__ import annotations

import asyncio
import logging
import math
import mmap
import re
import subprocess
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path
from shutil import copyfileobj

from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from budgetprune.service.errors import BUSY, INVALID, OK, RefusedError
from budgetprune.service.processes import environment
from budgetprune.service.rebudget import REFUSED
from budgetprune.service.served import OfferedFile
from budgetprune.utils.limits import KIB

# Models for other budgets that are kept, requests that may wait for one, and seconds to make one.
MOST_KEPT, MOST_WAITING, TIME_LIMIT = 4, 4, 60.0
AT_ONCE = 256 * KIB

_log = logging.getLogger("uvicorn.error")


class Offers:
    """Model files to download.

    A model for another budget is made by another process, one at a time, because that takes about a second
    and the memory of a second model.

    Parameters
    ----------
    offered : OfferedFile
    """

    def __init__(self, offered: OfferedFile) -> None:
        self._offered = offered
        self._file = mmap.mmap(offered.descriptor, offered.n_bytes, access=mmap.ACCESS_READ)
        self._others: OrderedDict[float, mmap.mmap] = OrderedDict()
        self._lock = asyncio.Lock()
        self._n_waiting = 0

    async def response(self, query: QueryParams) -> Response:
        """Return the file for the budget in a query.

        Raises
        ------
        RefusedError
            If the budget is invalid or too small, or too many other budgets are asked for.
        """
        budget = _budget_of(query)
        name = re.sub(r"[^\w.-]", "_", self._offered.name, flags=re.ASCII)
        if budget is None:
            return MappedResponse(self._file, f"{name}.budgetprune")
        if not self._offered.has_budgets:
            message = "this model has one budget only, because its file has no path; leave out the budget."
            raise RefusedError(INVALID, message, "query.budget")
        return MappedResponse(await self._at(budget), f"{name}-budget-{budget:g}.budgetprune")

    async def _at(self, budget: float) -> mmap.mmap:
        if budget not in self._others:
            if self._n_waiting >= MOST_WAITING:
                raise RefusedError(BUSY, "models for other budgets are being made; try again.")
            self._n_waiting += 1
            try:
                async with self._lock:
                    if budget not in self._others:
                        self._others[budget] = await self._make(budget)
            finally:
                self._n_waiting -= 1
        self._others.move_to_end(budget)
        found = self._others[budget]
        if len(self._others) > MOST_KEPT:
            self._others.popitem(last=False)
        return found

    async def _make(self, budget: float) -> mmap.mmap:
        with tempfile.TemporaryDirectory(prefix="budgetprune-") as folder:
            source, target = Path(folder, "model"), Path(folder, "other")
            await asyncio.to_thread(source.write_bytes, self._file)
            with subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-X",
                    "utf8",
                    "-m",
                    "budgetprune.service.rebudget",
                    source,
                    target,
                    repr(budget),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=environment(),
                text=True,
                encoding="utf-8",
            ) as process:
                try:
                    said, _ = await asyncio.to_thread(process.communicate, timeout=TIME_LIMIT)
                except subprocess.TimeoutExpired:
                    _log.warning("A model for a budget of %g was not made in %g s.", budget, TIME_LIMIT)
                    raise RefusedError(BUSY, "it took too long to make a model for this budget.") from None
                finally:
                    process.kill()
            if process.returncode == REFUSED:
                raise RefusedError(INVALID, said.strip(), "query.budget")
            if process.returncode:
                raise RuntimeError(f"the model for a budget of {budget:g} could not be made")
            return await asyncio.to_thread(_map_copy, target)


def _map_copy(file: Path) -> mmap.mmap:
    """Map a copy of a file that has no name, so that it ends with the mapping."""
    with tempfile.TemporaryFile() as copy, file.open("rb") as made:
        copyfileobj(made, copy)
        copy.flush()
        return mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ)


class MappedResponse(Response):
    """Response with the content of a file, sent as fast as the client reads.

    Parameters
    ----------
    content : mmap
    name : str
        Name of the file for the client.
    """

    media_type = "application/octet-stream"

    def __init__(self, content: mmap.mmap, name: str) -> None:
        disposition = f'attachment; filename="{name}"'
        length = str(len(content))
        super().__init__(
            None, OK, {"content-disposition": disposition, "content-length": length}, self.media_type
        )
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        await send({"type": "http.response.start", "status": OK, "headers": self.raw_headers})
        n = len(self._content)
        for start in range(0, n, AT_ONCE):
            part = self._content[start : start + AT_ONCE]
            more = start + AT_ONCE < n
            await send({"type": "http.response.body", "body": part, "more_body": more})


def _budget_of(query: QueryParams) -> float | None:
    given = query.getlist("budget")
    if not given:
        return None
    try:
        (text,) = given
        budget = float(text)
    except ValueError:
        budget = math.nan
    if not (budget >= 0 and math.isfinite(budget)):
        raise RefusedError(INVALID, "budget must be one number of at least 0.", "query.budget")
    return budget
