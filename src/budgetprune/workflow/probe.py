"""Trial loading of a model file in a process with limited time and memory.

Run as a script (``python probe.py READER MEMORY SECONDS``), it reads the content of a model file from
standard input, loads it with the module in the file READER (see `budgetprune.forest.adapter.Reader`), and
writes to standard output a line of JSON, which is empty or describes an error, and the model as its library
writes it. It imports nothing of budgetprune, so that it starts as fast as the library does.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

_OUT_OF_MEMORY = ("bad_alloc", "bad allocation", "Cannot allocate memory", "out of memory")


def _limit(memory: int, seconds: int) -> None:
    """Limit memory and CPU time of this process; systems without such limits rely on the timeout."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wanted = {resource.RLIMIT_CPU: seconds}
    statm = Path("/proc/self/statm")
    if statm.exists():  # other systems do not tell the memory in use, or do not enforce the limit
        wanted[resource.RLIMIT_AS] = int(statm.read_text().split()[0]) * resource.getpagesize() + memory
    for kind, most in wanted.items():
        hard = resource.getrlimit(kind)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (soft, hard))


def _import_file(file: str) -> Any:
    """Import a module from its file."""
    spec = spec_from_file_location("reader", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def main() -> None:
    file, memory, seconds = sys.argv[1:]
    # Libraries print to standard output; only the answer belongs there.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    reader = _import_file(file)
    content = sys.stdin.buffer.read()
    __import__(reader.PACKAGE)
    answer: dict[str, str] = {}
    saved = b""
    try:
        _limit(int(memory), int(seconds))
        saved = reader.save(reader.load(content))
    except Exception as error:
        is_memory = isinstance(error, MemoryError) or any(word in str(error) for word in _OUT_OF_MEMORY)
        answer = {"error": "MemoryError" if is_memory else type(error).__name__, "message": str(error)}
    out.write(json.dumps(answer).encode() + b"\n" + saved)
    out.flush()
    os._exit(0)  # skip the library's cleanup, which may crash after an error


if __name__ == "__main__":
    main()
