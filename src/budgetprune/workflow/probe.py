"""Loaders of other libraries' models, and a process of its own in which they can do no harm.

Run as a script (``python probe.py .json 1000000000 60``), it reads the content of a file from standard
input, loads it under limits, and writes a line of JSON and what the library makes of the model to standard
output. It imports nothing of budgetprune, so that it starts in the time that the library takes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# What holds the nodes of scikit-learn's trees. Loading these runs no code of the file, and importing a model
# checks that the nodes make trees.
TRUSTED = ("sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor")

_OUT_OF_MEMORY = ("bad_alloc", "bad allocation", "Cannot allocate memory", "out of memory")


class UntrustedTypesError(Exception):
    """A skops file holds types that could run any code."""


def _load_skops(content: bytes) -> Any:
    from skops import io

    strangers = sorted(set(io.get_untrusted_types(data=content)) - set(TRUSTED))
    if strangers:
        raise UntrustedTypesError(", ".join(strangers[:5]))
    return io.loads(content, trusted=list(TRUSTED))


def _load_lightgbm(content: bytes) -> Any:
    import lightgbm

    return lightgbm.Booster(model_str=content.decode())


def _load_xgboost(content: bytes) -> Any:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(bytearray(content))
    return booster


def _dump_lightgbm(booster: Any) -> bytes:
    text: str = booster.model_to_string()
    return text.encode()


def _dump_xgboost(booster: Any) -> bytes:
    return bytes(booster.save_raw("json"))


# The library that reads a file, by the ending of its name, and how.
LIBRARIES = {".skops": "skops", ".txt": "lightgbm", ".json": "xgboost", ".ubj": "xgboost"}
LOADERS: dict[str, Callable[[bytes], Any]] = {
    "skops": _load_skops,
    "lightgbm": _load_lightgbm,
    "xgboost": _load_xgboost,
}
# A model that the library has written itself is well-formed, whatever it says. skops has no parser of its own
# that could stumble, and warns of other versions of scikit-learn, so its files are loaded as they are.
DUMPS: dict[str, Callable[[Any], bytes]] = {"lightgbm": _dump_lightgbm, "xgboost": _dump_xgboost}


# --- In the child -------------------------------------------------------------------------------------------


def _limit(memory: int, seconds: int) -> None:
    """Limit what this process may take from now on; systems without such limits only have the timeout."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wanted = {resource.RLIMIT_CPU: seconds}
    statm = Path("/proc/self/statm")
    if statm.exists():  # elsewhere nothing tells what is taken already, or limits are not kept
        wanted[resource.RLIMIT_AS] = int(statm.read_text().split()[0]) * resource.getpagesize() + memory
    for kind, most in wanted.items():
        hard = resource.getrlimit(kind)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (soft, hard))


def main() -> None:
    ending, memory, seconds = sys.argv[1:]
    # Libraries print to standard output; only the answer belongs there.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    library = LIBRARIES[ending]
    content = sys.stdin.buffer.read()
    __import__(library)
    answer: dict[str, str] = {}
    dump = b""
    try:
        _limit(int(memory), int(seconds))
        model = LOADERS[library](content)
        dump = DUMPS[library](model) if library in DUMPS else b""
    except Exception as error:
        is_memory = isinstance(error, MemoryError) or any(word in str(error) for word in _OUT_OF_MEMORY)
        answer = {"error": "MemoryError" if is_memory else type(error).__name__, "message": str(error)}
    out.write(json.dumps(answer).encode() + b"\n" + dump)
    out.flush()
    os._exit(0)  # a library that was upset may not survive its own end


if __name__ == "__main__":
    main()
