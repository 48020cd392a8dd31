"""Progress of a workflow: stages and notes, for a console or a log."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Observer(Protocol):
    """Receiver of progress messages of `fit_table` and `prune_model`."""

    @property
    def has_bars(self) -> bool:
        """Whether training shows progress bars on standard error."""
        ...

    def stage(self, what: str, *, bars: bool = False) -> AbstractContextManager[None]:
        """Return a context in which one stage of the work runs.

        Parameters
        ----------
        what : description of the stage
        bars : whether the stage shows progress bars
        """
        ...

    def note(self, message: str) -> None:
        """Receive a note about the data or the result; the work continues."""
        ...


class SilentObserver:
    """Observer that ignores stages and notes. Warnings inside stages are issued as usual."""

    has_bars = False

    def stage(self, what: str, *, bars: bool = False) -> AbstractContextManager[None]:
        """Return an empty context."""
        return nullcontext()

    def note(self, message: str) -> None:
        """Ignore the note."""
