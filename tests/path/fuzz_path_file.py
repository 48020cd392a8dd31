"""Try to break the loader of path files: ``make fuzz``, or ``python -m tests.path.fuzz_path_file``.

Every case must be refused with InvalidInputError, or give a path that is consistent and predicts. Cases run
in child processes with limited memory, as those of `fuzz_model_file` do.
"""

from __future__ import annotations

import sys
import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import strategies as st

from budgetprune import PruningPath

from ..fuzzing import INTEGERS
from ..persistence.fuzz_model_file import main, try_cases
from ..persistence.mutations import EDITS, Edit, accident, intents
from ..persistence.parts import PACKED, Parts, assemble
from .fuzz_npz import edit_path, judge, paths

MODULE = "tests.path.fuzz_path_file"


@cache
def originals() -> tuple[bytes, ...]:
    """Valid files: classes, regression on a grid, boosting with categories; one without compression."""
    files = [saved(path) for path in paths()]
    parts = Parts(files[0])
    for entry in parts.table:
        entry.pop("packed", None)
    return (*files, parts.assemble())


def saved(path: PruningPath) -> bytes:
    with TemporaryDirectory() as folder:
        path.save(Path(folder) / "path")
        return (Path(folder) / "path").read_bytes()


# --- Intent -------------------------------------------------------------------------------------------------


def edit_packing(draw: st.DrawFn, parts: Parts) -> None:
    """Compress an array or not, give it a wrong size, or fill it with many zeros."""
    i = draw(st.integers(0, len(parts.table) - 1))
    entry, array = parts.table[i], parts.arrays[i]
    if not isinstance(entry, dict):
        return
    match draw(st.sampled_from(["flip", "size", "zeros", "all zeros", "version"])):
        case "flip" if "packed" in entry:
            del entry["packed"]
        case "flip":
            entry["packed"] = PACKED
        case "size":
            near = len(zlib.compress(array.tobytes())) + draw(st.sampled_from([-1, 1, 64]))
            entry["packed"] = draw(st.sampled_from([*INTEGERS, near, array.nbytes, None, True, 1.5, "9"]))
        case "zeros":
            grow(parts, i, draw(st.sampled_from([10**3, 10**5, 2**21, 2**23])))
            parts.describe()
        case "all zeros":
            length = draw(st.sampled_from([10**3, 10**5, 2**18]))
            for j, other in enumerate(parts.arrays):
                if len(other) == len(array):
                    grow(parts, j, length)
            parts.describe()
        case "version":
            parts.version = draw(st.sampled_from([1, 2, 3, 4, 5]))


def grow(parts: Parts, i: int, length: int) -> None:
    array = parts.arrays[i]
    parts.arrays[i] = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    if isinstance(parts.table[i], dict):
        parts.table[i]["packed"] = PACKED


PATH_EDITS: list[Edit] = [*EDITS, edit_path, edit_path, edit_packing, edit_packing]


# --- Accidents ----------------------------------------------------------------------------------------------


def streams(seed: int) -> bytes:
    """A file with changed bytes; in some, compressed streams are cut, extended or replaced."""
    if seed % 4:
        return accident(seed, files=originals())
    rng = np.random.default_rng(seed)
    parts = Parts(originals()[rng.integers(len(originals()) - 1)])
    contents, i = parts.contents(), int(rng.integers(len(parts.table)))
    contents[i] = change_stream(contents[i], rng)
    for entry, content, array in zip(parts.table, contents, parts.arrays, strict=True):
        if len(content) < array.nbytes:
            entry["packed"] = len(content)
        else:
            entry.pop("packed", None)
    text = parts.text().encode()
    body = b"".join(content + bytes(-len(content) % 64) for content in contents)
    return assemble(text, body, parts.version)


def change_stream(content: bytes, rng: np.random.Generator) -> bytes:
    match rng.integers(5):
        case 0:
            return content[: rng.integers(len(content) + 1)]
        case 1:
            return content + rng.bytes(int(rng.integers(1, 9)))
        case 2:
            return zlib.compress(bytes(int(rng.integers(0, 2**22))))
        case 3:
            return content[:-4] + rng.bytes(4)  # another checksum
        case _:
            return zlib.compress(content)


def run_batch(first: int, n_cases: int, folder: Path) -> dict[str, int]:
    """Run some cases of either kind here; count the reasons for refusals, "" for paths that loaded."""
    file = folder / "case"
    for content in originals():
        file.write_bytes(content)
        assert judge(file) is None
    return try_cases(first, n_cases, file, judge, streams, intents(originals(), PATH_EDITS))


if __name__ == "__main__":
    sys.exit(main(MODULE, run_batch))
