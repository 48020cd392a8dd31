"""Engines by name."""

from __future__ import annotations

from numbers import Integral

from budgetprune.distributed.engine import Engine, LocalEngine
from budgetprune.errors import InvalidInputError

ENGINES = ("local", "ray")


def as_engine(engine: str | Engine, workers: int | None) -> Engine:
    """Return an engine, or create the one of a name."""
    if workers is not None and (not isinstance(workers, Integral) or workers < 1):
        raise InvalidInputError(f"workers must be an integer of at least 1, not {workers!r}.")
    if isinstance(engine, Engine):
        if workers is not None:
            raise InvalidInputError("give the number of workers to the engine, not to the problem.")
        return engine
    if engine == "local":
        return LocalEngine(1 if workers is None else int(workers))
    if engine == "ray":
        from budgetprune.distributed.ray_engine import RayEngine

        return RayEngine(workers)
    raise InvalidInputError(
        f"engine={engine!r} is unknown; use {', '.join(map(repr, ENGINES))}, or an Engine."
    )
