"""Slow and unreliable places that give values, without a clock: time is turns of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from budgetprune import BudgetPredictor

from .forests import cases


@dataclass
class Counter:
    """A place that gives values after some turns of the event loop, and keeps a record.

    Parameters
    ----------
    turns : how many turns a request for a source takes
    fails : sources that fail
    clean_up : how many turns a cancelled request takes to end
    """

    predictor: BudgetPredictor
    row: dict[str, Any]
    turns: Callable[[str], int] = lambda source: 1
    fails: frozenset[str] = frozenset()
    clean_up: int = 0
    asked: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    under_way: int = 0
    most_at_once: int = 0

    async def fetch(self, source: str) -> Any:
        self.asked.append(source)
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            for _ in range(self.turns(source)):
                await asyncio.sleep(0)
            if source in self.fails:
                raise OSError(f"{source} is closed")
            return {name: self.row[name] for name in self.predictor.features_of(source)}
        except asyncio.CancelledError:
            self.cancelled.append(source)
            for _ in range(self.clean_up):
                await asyncio.sleep(0)
            raise
        finally:
            self.under_way -= 1


def run(coroutine: Any) -> Any:
    """Run to the end, and make sure that no task is left."""

    async def watched() -> Any:
        try:
            # What never ends is an error, also on a busy machine.
            async with asyncio.timeout(900):
                return await coroutine
        finally:
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return asyncio.run(watched())


@st.composite
def places(draw: st.DrawFn) -> tuple[Any, Counter, np.ndarray]:
    """A predictor, a row, and a place that is as slow as it likes."""
    case = draw(cases(n_rows=1))
    predictor = case.predictor()
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    turns = {
        source: int(rng.integers(0, 6)) for source in (*predictor.source_names, *predictor.feature_names)
    }
    row = case.named(0)
    counter = Counter(predictor, row, lambda s: turns.get(s, 1), clean_up=draw(st.sampled_from([0, 0, 3])))
    return predictor, counter, case.forest.prepare_rows(case.rows)[0]
