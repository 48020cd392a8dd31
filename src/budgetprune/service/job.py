"""Task of a worker process, and its dialogue with the supervisor."""

from __future__ import annotations

from dataclasses import dataclass

from budgetprune.service.options import ServerOptions
from budgetprune.service.rates import RateMemory
from budgetprune.service.served import ServedModel

# The supervisor tells a worker to stop, and then not to wait for clients. The end of the stream means that
# the supervisor has died.
STOP, FORCE = b"s", b"f"
# A worker tells that it accepts connections, or why it cannot: this byte, and the message up to the end.
READY, FAILED = b"r", b"e"


@dataclass(frozen=True)
class Job:
    """Description of what the workers serve. All read it from one file, so all serve the same model.

    Attributes
    ----------
    model : ServedModel
    options : ServerOptions
    listener, counts : int
        Descriptors of the listening socket and of the memory of `Counts`.
    n_columns : int
        Of `Counts`.
    rates : RateMemory
        Shared by all workers.
    """

    model: ServedModel
    options: ServerOptions
    listener: int
    counts: int
    n_columns: int
    rates: RateMemory
