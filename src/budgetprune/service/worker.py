"""Worker process: ``python -m budgetprune.service.worker CONTROL JOB INDEX``.

The supervisor starts it, with descriptors of its socket to the supervisor and of the file with its `Job`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
import traceback

from budgetprune.errors import BudgetPruneError
from budgetprune.service.counts import Counts, OwnRow
from budgetprune.service.job import FAILED, READY, Job


def main(control: socket.socket, job: int, index: int) -> None:
    """Serve until the supervisor says stop, or dies."""

    def tell(message: bytes) -> None:
        with contextlib.suppress(OSError):  # the supervisor has died
            control.sendall(message)

    try:
        from budgetprune.service.server import serve  # may fail, which the supervisor must know

        task = read_job(job)
        counts = Counts(task.options.workers, task.n_columns, task.counts)
        serve(
            task.model,
            socket.socket(fileno=task.listener),
            task.options.of_worker(index),
            row=OwnRow(counts, index),
            control=control,
            rates=task.rates,
            when_ready=lambda: tell(READY),
        )
    except Exception as error:
        if not isinstance(error, BudgetPruneError | OSError):
            traceback.print_exc()
        tell(FAILED + (str(error) or type(error).__name__).encode("utf-8", "replace"))
        raise SystemExit(1) from None


def read_job(descriptor: int) -> Job:
    """Read the task. Other workers read the same file at the same time, so its position is not used."""
    content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    job = pickle.loads(content)
    assert isinstance(job, Job)
    return job


if __name__ == "__main__":
    control, job, index = map(int, sys.argv[1:])
    main(socket.socket(fileno=control), job, index)
