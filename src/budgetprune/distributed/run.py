"""`Run`: iterations for several lambdas, one after the other, that can be interrupted and resumed."""

from __future__ import annotations

import os
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.errors import InvalidInputError
from budgetprune.solvers import Iterate, Search
from budgetprune.utils.files import File, written_atomically

# A checkpoint is written at most so often, in seconds, and if a run is interrupted.
CHECKPOINT_SECONDS = 10.0
_TARGET = ("keep", "objective", "bound", "potential")
_ITERATE = ("potential", "usage", "age", "n_waiting", "n_stalls", "step")
# Place to begin from for one lambda, computed when it is needed.
Start = Callable[[int], Iterate | None]


@dataclass(frozen=True)
class Limits:
    """When iterations for one lambda stop.

    Attributes
    ----------
    gap : float
    max_iterations : int
    """

    gap: float
    max_iterations: int


class Run:
    """Iterations for all lambdas of a search.

    Parameters
    ----------
    search : Search
    limits : Limits
    fingerprint : str
        Identifies problem and options; a checkpoint of another run is refused.
    checkpoint : path of a file, or None

    Attributes
    ----------
    history : list of lists of (float, float)
        Objective and bound after each iteration, for each lambda.
    """

    def __init__(self, search: Search, limits: Limits, fingerprint: str, checkpoint: File | None) -> None:
        self.search, self.limits = search, limits
        self._fingerprint, self._checkpoint = fingerprint, checkpoint
        self.history: list[list[tuple[float, float]]] = [[] for _ in search.targets]
        self._at: Iterate | None = None  # state of the lambda whose iterations have begun
        self._saved = time.monotonic()
        # State after the last complete iteration; arrays are replaced, never changed.
        self._state = self._arrays()
        if checkpoint is not None and os.path.exists(checkpoint):
            self._load(checkpoint)
            if self._at is not None:
                search.resume(self._at)

    def is_done(self, k: int) -> bool:
        """Whether lambda `k` needs no more iterations."""
        target = self.search.targets[k]
        return target.gap <= self.limits.gap or len(self.history[k]) >= self.limits.max_iterations

    def proceed(self, start: Start, verbose: bool) -> None:
        """Iterate until every lambda has a small gap, from the largest lambda down."""
        try:
            for k in reversed(range(len(self.history))):
                self._proceed_with(k, start, verbose)
        except BaseException:
            self.save()
            raise
        if self._checkpoint is not None and os.path.exists(self._checkpoint):
            os.unlink(self._checkpoint)

    def _proceed_with(self, k: int, start: Start, verbose: bool) -> None:
        target, history = self.search.targets[k], self.history[k]
        if self.is_done(k):
            return
        if self._at is None:
            self._at = self.search.start(start(k))
        total = self.limits.max_iterations
        with tqdm(total=total, disable=not verbose, desc=f"lambda {target.lam:.4g}", unit="iteration") as bar:
            bar.update(len(history))
            while not self.is_done(k):
                self.search.iterate(self._at, target)
                history.append((target.objective, target.bound))
                self._state = self._arrays()
                bar.update()
                bar.set_postfix(gap=f"{target.gap:.2%}", refresh=False)
                if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
                    self.save()
        self._at = None
        self._state = self._arrays()

    # --- Checkpoints ----------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the state after the last complete iteration, if there is a file for it."""
        if self._checkpoint is not None:
            with written_atomically(self._checkpoint) as handle:
                np.savez(handle, **self._state)
            self._saved = time.monotonic()

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {"fingerprint": np.array(self._fingerprint)}
        for k, (target, history) in enumerate(zip(self.search.targets, self.history, strict=True)):
            arrays[f"history{k}"] = np.array(history, dtype=np.float64).reshape(-1, 2)
            known = {name: getattr(target, name) for name in _TARGET}
            arrays |= {f"target{k}.{name}": value for name, value in known.items() if value is not None}
        if self._at is not None:
            arrays |= {f"at.{name}": getattr(self._at, name) for name in _ITERATE}
        return arrays

    def _load(self, file: File) -> None:
        try:
            with open(file, "rb") as handle, np.load(handle, allow_pickle=False) as stored:
                arrays = dict(stored)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise InvalidInputError(
                f"{file} is not a checkpoint that can be read ({error}); remove it."
            ) from error
        if str(arrays.get("fingerprint")) != self._fingerprint:
            raise InvalidInputError(
                f"{file} is a checkpoint of another problem, or of other options; remove it, or name "
                "another file."
            )
        try:
            self._restore(arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(f"{file} is not a complete checkpoint ({error!r}); remove it.") from error

    def _restore(self, arrays: dict[str, Any]) -> None:
        for k, target in enumerate(self.search.targets):
            self.history[k] = [(float(reached), float(least)) for reached, least in arrays[f"history{k}"]]
            target.keep = arrays[f"target{k}.keep"]
            target.objective = float(arrays[f"target{k}.objective"])
            target.bound = float(arrays[f"target{k}.bound"])
            target.potential = arrays.get(f"target{k}.potential")
        if "at.potential" in arrays:
            self._at = Iterate(arrays["at.potential"], arrays["at.usage"].size)
            self._at.usage = arrays["at.usage"]
            for name in _ITERATE[2:]:
                setattr(self._at, name, int(arrays[f"at.{name}"]))
        self._state = arrays


def histories(run: Run) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Objectives and bounds after each iteration, for each lambda."""
    tables: Sequence[NDArray[np.float64]] = [np.array(each).reshape(-1, 2) for each in run.history]
    return [(table[:, 0], table[:, 1]) for table in tables]
