"""Measurement of time, and of memory in a fresh process.

Imports very little, because fresh processes start here and their memory is measured.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")

ROOT = Path(__file__).resolve().parents[1]
MB = 1e6
# Time limit for all repeats of a call, in seconds; slow calls are repeated less often.
PATIENCE = 30.0


class BenchmarkError(Exception):
    """Error of a benchmark that cannot be run; the message has the reason."""


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Print the name of a step, and its time when it is done."""
    print(f"  {what} ...", end="", file=sys.stderr, flush=True)
    start = perf_counter()
    try:
        yield
    except BaseException:
        print(file=sys.stderr)
        raise
    print(f" {perf_counter() - start:.2f} s", file=sys.stderr, flush=True)


def seconds(run: Callable[[], Result]) -> tuple[float, Result]:
    """Time one call."""
    start = perf_counter()
    result = run()
    return perf_counter() - start, result


def median_seconds(run: Callable[[], Result], repeats: int) -> tuple[float, Result]:
    """Time a few calls; return the median, and the result of the last."""
    elapsed, result = seconds(run)
    times = [elapsed]
    while len(times) < repeats and sum(times) < PATIENCE:
        elapsed, result = seconds(run)
        times.append(elapsed)
    return statistics.median(times), result


def seconds_in_turns(runs: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds of each function; calls alternate, so that other load affects all of them equally."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            found[name].append(seconds(run)[0])
    return {name: statistics.median(taken) for name, taken in found.items()}


def times(own: float, peer: float) -> str:
    """Format two times."""
    return f"{time_in_words(own)} / {time_in_words(peer)}"


def time_in_words(elapsed: float) -> str:
    """Format a time."""
    unit, factor = ("s", 1.0) if elapsed >= 1 else ("ms", 1e3) if elapsed >= 1e-3 else ("µs", 1e6)
    return f"{factor * elapsed:.3g} {unit}"


@contextmanager
def busy_cores(n: int) -> Iterator[None]:
    """Keep some cores busy with idle loops, which end with this process at the latest."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    spinning = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(n)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


# --- Memory of a fresh process ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finished:
    """Result of a fresh process, and its memory in bytes.

    Attributes
    ----------
    result : return value of the function, converted to JSON and back
    peak : float
        Largest resident size.
    imports : float
        Resident size once the function's module was imported, before any work.
    """

    result: Any
    peak: float
    imports: float


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Finished:
    """Call a function of a module in a new interpreter; arguments and result travel as JSON."""
    job = [function.__module__, function.__name__, json.dumps(arguments)]
    done = subprocess.run(
        [sys.executable, "-m", __name__, *job], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise BenchmarkError(
            f"{job[0]}.{job[1]} failed in its own process (status {done.returncode}, "
            "negative if a signal ended it: -9 is what a lack of memory looks like)."
        )
    return Finished(**json.loads(done.stdout.splitlines()[-1]))


def peak_bytes() -> float:
    """Largest resident size of this process so far."""
    # `ru_maxrss` is inherited from the parent process; the high-water mark is not.
    return _from_status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _resident_bytes() -> float:
    return _from_status("VmRSS") or peak_bytes()


_UNIT = 1 if sys.platform == "darwin" else 1024


def _from_status(field: str) -> float:
    """Read a size from ``/proc/self/status``; 0 on systems without this file."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:")), 0.0)


def _main(module: str, function: str, arguments: str) -> None:
    run = getattr(import_module(module), function)
    imports = _resident_bytes()
    result = run(*json.loads(arguments))
    print(json.dumps({"result": result, "peak": peak_bytes(), "imports": imports}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
