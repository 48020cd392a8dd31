"""Task of a worker process, and its dialogue with the supervisor."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass

from budgetprune.predictor import BudgetPredictor
from budgetprune.service.options import ServerOptions
from budgetprune.service.rates import RateMemory

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
    predictor : BudgetPredictor
    options : ServerOptions
    listener, counts : int
        Descriptors of the listening socket and of the memory of `Counts`.
    n_columns : int
        Of `Counts`.
    rates : RateMemory
        Shared by all workers.
    """

    predictor: BudgetPredictor
    options: ServerOptions
    listener: int
    counts: int
    n_columns: int
    rates: RateMemory


def nameless_file(content: bytes) -> int:
    """Create a file without a name, in memory if possible, and return its descriptor."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("budgetprune")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    return descriptor
