"""Try to break the loader of path files of release 0.1: ``make fuzz``, or ``python -m tests.path.fuzz_npz``.

Every case must be refused with InvalidInputError, or give a path that agrees with itself and predicts. Cases
run in child processes with limited memory, as those of `fuzz_model_file` do.
"""

from __future__ import annotations

import faulthandler
import io
import json
import struct
import sys
import warnings
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st

from budgetprune import BudgetWarning, FeatureCosts, InvalidInputError, PruningPath, PruningProblem

from ..boosters import boosted
from ..fuzzing import INTEGERS, SECONDS_PER_CASE, walk
from ..persistence.archives import write_zeros
from ..persistence.fuzz_model_file import main, try_cases, use
from ..persistence.mutations import EDITS, TEXT_EDITS, mutate_bytes
from ..persistence.parts import Parts
from .npz_files import write_npz
from .problems import build_problem

MODULE = "tests.path.fuzz_npz"
MOST_FEATURES = 1000  # rows are made for forests of no more; a file may claim any number


def paths() -> list[PruningPath]:
    """Classes, regression on a grid, boosting with categories."""
    case = boosted("softmax")
    return [
        build_problem().path(certify=True),
        build_problem(regression=True).path(lams=[0.0, 0.01, 0.3]),
        PruningProblem(case.forest, case.X, costs=FeatureCosts([2, 1, 0, 0.5])).path(),
    ]


@cache
def originals() -> tuple[bytes, ...]:
    """Valid files."""
    return tuple(map(saved, paths()))


def saved(path: PruningPath) -> bytes:
    with TemporaryDirectory() as folder:
        write_npz(path, Path(folder) / "path.npz")
        return (Path(folder) / "path.npz").read_bytes()


# --- Judging ------------------------------------------------------------------------------------------------


def judge(file: Path) -> str | None:
    """Load a file and use what it holds; return why it was refused, or None. Other errors are findings."""
    faulthandler.dump_traceback_later(SECONDS_PER_CASE, exit=True)
    try:
        path = PruningPath.load(file)
    except InvalidInputError as error:
        if not str(error).startswith(f"{file} "):
            raise AssertionError("the message does not begin with the file") from error
        return str(error).removeprefix(f"{file} ")
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BudgetWarning)
            check(path)
        again = file.with_name("again")
        path.save(again)
        assert PruningPath.load(again).to_frame().equals(path.to_frame())
        return None
    finally:
        faulthandler.cancel_dump_traceback_later()


def check(path: PruningPath) -> None:
    """Look at all points from several sides."""
    walk(path.forest)
    assert repr(path)
    assert isinstance(path.complete, bool)
    assert all(isinstance(name, str) for name in path.source_names)
    n_features = path.forest.n_features
    costs = FeatureCosts().resolve(n_features) if n_features <= MOST_FEATURES else None
    for k, pruning in enumerate(path):
        walk(pruning.forest)
        assert pruning.n_splits == path.n_splits[k] == pruning.forest.n_splits
        assert path.at(lam=path.lam[k]).n_splits == pruning.n_splits
        within = path.at(budget=path.cost[k])
        assert within.cost <= path.cost[k] * (1 + 1e-9)
        assert within.n_splits >= pruning.n_splits
        assert 0 <= pruning.cost <= path.unpruned.cost * (1 + 1e-5)
        assert np.isfinite([pruning.error, pruning.cost, pruning.lam]).all()
        if costs is not None and k in (0, len(path) - 1):
            use(pruning.forest, costs)


# --- Accidents ----------------------------------------------------------------------------------------------


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Pack members, whose names may be equal; their checksums fit."""
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about equal names
        with zipfile.ZipFile(written, "w", method) as archive:
            for name, content in members:
                archive.writestr(name, content)
    return written.getvalue()


def accident(seed: int) -> bytes:
    """Bytes that have changed: anywhere in the file, in the directory, or in a member before it is packed."""
    rng = np.random.default_rng(seed)
    content = originals()[rng.integers(len(originals()))]
    n_times = int(rng.choice([1, 1, 2, 3]))
    match rng.choice(["anywhere", "directory", "member", "head", "members", "zeros"]):
        case "anywhere":
            for _ in range(n_times):
                content = mutate_bytes(content, rng)
            return content
        case "directory":
            for _ in range(n_times):
                content = lie(content, rng)
            return content
        case "zeros":
            return with_zeros(content, rng)
        case where:
            members = list(members_of(content).items())
            for _ in range(n_times):
                mutate_members(members, str(where), rng)
            return archive_of(members, int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])))


RECORDS = (b"PK\1\2", b"PK\3\4", b"PK\5\6")  # begin what zip archives say about members
FIELDS = ((6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (42, 4))


def lie(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a field of an entry of the directory, or of its end."""
    data = bytearray(content)
    records = [i for i in range(len(data)) if data[i : i + 4] in RECORDS]
    at, width = FIELDS[rng.integers(len(FIELDS))]
    start = int(rng.choice(records)) + at
    old = int.from_bytes(data[start : start + width], "little")
    new = int(rng.choice([*INTEGERS, old + 1, old - 1, old + 8, 2 * old, len(data)])) % 2 ** (8 * width)
    data[start : start + width] = new.to_bytes(width, "little")
    return bytes(data)


def with_zeros(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace or add a member that holds nothing but many zeros."""
    members = members_of(content)
    name = str(rng.choice([*members, "more.npy"]))
    members.pop(name, None)
    written = io.BytesIO(archive_of(list(members.items())))
    dtype, size = str(rng.choice(["<f8", "<i4", "|u1", "<U9"])), int(rng.choice([10**3, 10**6, 2**23]))
    with zipfile.ZipFile(written, "a") as archive:
        write_zeros(archive, name, dtype, (size,) if rng.random() < 0.8 else (size // 100, 100))
    return written.getvalue()


def mutate_members(members: list[tuple[str, bytes]], where: str, rng: np.random.Generator) -> None:
    i, j = rng.integers(len(members), size=2)
    name, content = members[i]
    if where == "member":
        members[i] = name, mutate_bytes(content, rng)
    elif where == "head" and len(content) >= 10:
        (n_head,) = struct.unpack_from("<H", content, 8)
        members[i] = name, mutate_bytes(content[: 10 + n_head], rng) + content[10 + n_head :]
    else:
        match rng.integers(5):
            case 0 if len(members) > 1:
                del members[i]
            case 1:
                members.append((name, content))
            case 2:
                members[i] = str(rng.choice(["x.npy", "header", ".npy", "../lam.npy", "forest.npy"])), content
            case 3:
                members[i] = name, members[j][1]
            case _:
                members.append(("forest.origin.npy", content))


# --- Intent -------------------------------------------------------------------------------------------------


class PathParts(Parts):
    """The header and the arrays of a path file, free to say anything."""

    def __init__(self, content: bytes) -> None:
        with np.load(io.BytesIO(content)) as archive:
            arrays = dict(archive)
        self.header: dict[str, Any] = json.loads(arrays.pop("header").tobytes())
        self.table = [{"name": name} for name in arrays]
        self.arrays = [array.copy() for array in arrays.values()]

    def text(self) -> str:
        return json.dumps(self.header)

    def pack(self, text: str) -> bytes:
        header = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        arrays = {entry["name"]: array for entry, array in zip(self.table, self.arrays, strict=True)}
        written = io.BytesIO()
        np.savez_compressed(written, header=header, **arrays)
        return written.getvalue()


def edit_path(draw: st.DrawFn, parts: Parts) -> None:
    """Change numbers of the path, mostly so that they could be those of another path."""
    others = ("forest.", "unpruned.")
    own = [i for i, entry in enumerate(parts.table) if not str(entry["name"]).startswith(others)]
    array = parts.arrays[draw(st.sampled_from(own))]
    if array.ndim != 1 or not array.size or array.dtype.kind not in "fi":
        return
    i, j = (draw(st.integers(0, array.size - 1)) for _ in range(2))
    match draw(st.sampled_from(["sort", "reverse", "more", "less", "negative", "zero", "copy", "flat"])):
        case "sort":
            array.sort()
        case "reverse":
            array[:] = array[::-1].copy()
        case "more":
            array += 1
        case "less":
            array -= 1
        case "negative":
            array *= -1
        case "zero":
            array[:] = 0
        case "copy":
            array[i] = array[j]
        case "flat":
            array[i:] = array[i]


@st.composite
def intents(draw: st.DrawFn) -> bytes:
    """A file that somebody has made to be loaded: checksums fit, and so do sizes."""
    parts = PathParts(draw(st.sampled_from(originals())))
    for _ in range(draw(st.integers(1, 2))):
        draw(st.sampled_from([*EDITS, edit_path, edit_path]))(draw, parts)
    text = parts.text()
    if draw(st.integers(0, 9)) == 0:
        text = draw(st.sampled_from(TEXT_EDITS))(text)
    return parts.pack(text)


def run_batch(first: int, n_cases: int, folder: Path) -> dict[str, int]:
    """Run some cases of either kind here; count the reasons for refusals, "" for paths that loaded."""
    file = folder / "case"
    for content in originals():
        file.write_bytes(content)
        assert judge(file) is None
    return try_cases(first, n_cases, file, judge, accident, intents())


if __name__ == "__main__":
    sys.exit(main(MODULE, run_batch))
