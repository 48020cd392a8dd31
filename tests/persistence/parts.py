"""Parts of a model file, to be edited and put together again with a valid length and checksum."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from budgetprune.persistence.container import ALIGNMENT, DIGEST, MAGIC, PREAMBLE, _digest

GOLDEN = sorted(Path(__file__).parents[1].glob("golden/*.budgetprune"))

# Size of a compressed array that `Parts.text` replaces by the true one.
PACKED = "compressed"


def is_packed(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("packed") == PACKED


class Parts:
    """Header, table and arrays of a file, which tests may change in any way."""

    def __init__(self, content: bytes) -> None:
        _, self.version, n_header, _, _ = PREAMBLE.unpack_from(content)
        self.header: dict[str, Any] = json.loads(content[PREAMBLE.size : PREAMBLE.size + n_header])
        self.table: list[Any] = self.header.pop("arrays")
        self.arrays: list[np.ndarray] = []
        place = PREAMBLE.size + n_header
        for entry in self.table:
            dtype, n = np.dtype(entry["dtype"]), int(np.prod(entry["shape"]))
            n_stored = entry.get("packed", n * dtype.itemsize)
            stored = content[place : place + n_stored]
            if "packed" in entry:
                stored, entry["packed"] = zlib.decompress(stored), PACKED
            self.arrays.append(np.frombuffer(stored, dtype).reshape(entry["shape"]).copy())
            place += n_stored + -n_stored % ALIGNMENT

    def index(self, name: str) -> int:
        return next(i for i, entry in enumerate(self.table) if entry["name"] == name)

    def forest(self, draw: st.DrawFn, *names: str) -> list[np.ndarray]:
        """Arrays of the forest or of the unpruned one, if one has all of them; else empty arrays."""
        known = {entry["name"] for entry in self.table if isinstance(entry, dict)}
        prefixes = ["forest.", "unpruned."]
        prefixes = [prefix for prefix in prefixes if all(prefix + name in known for name in names)]
        if not prefixes:
            return [np.zeros(0) for _ in names]
        prefix = draw(st.sampled_from(prefixes))
        return [self.arrays[self.index(prefix + name)] for name in names]

    def describe(self) -> None:
        """Make the table describe the arrays as they are."""
        for entry, array in zip(self.table, self.arrays, strict=True):
            entry |= {"dtype": array.dtype.str, "shape": list(array.shape)}

    def text(self) -> str:
        """Header with the true sizes of compressed arrays, unless an edit has put in another size."""
        table = []
        for entry, array, content in zip(self.table, self.arrays, self.contents(), strict=True):
            if is_packed(entry):
                entry = {key: value for key, value in entry.items() if key != "packed"}
                entry |= {"packed": len(content)} if len(content) < array.nbytes else {}
            table.append(entry)
        return json.dumps(self.header | {"arrays": table})

    def contents(self) -> list[bytes]:
        """Bytes of each array, compressed if its entry says so and if that makes it smaller."""
        found = []
        for entry, array in zip(self.table, self.arrays, strict=True):
            content = array.tobytes()
            packed = zlib.compress(content) if isinstance(entry, dict) and "packed" in entry else content
            found.append(packed if len(packed) < len(content) else content)
        return found

    def body(self) -> bytes:
        return b"".join(padded(content, b"\0") for content in self.contents())

    def assemble(self) -> bytes:
        return assemble(self.text().encode(), self.body(), self.version)


def padded(content: bytes, filler: bytes) -> bytes:
    return content + filler * (-len(content) % ALIGNMENT)


def assemble(text: bytes, body: bytes, version: int) -> bytes:
    header = padded(text, b" ")
    start = PREAMBLE.pack(MAGIC, version, len(header), 0, b"")
    return repaired(start + header + body)


def repaired(content: bytes) -> bytes:
    """Give a file of any content a valid length and checksum, as an attacker would."""
    if len(content) < PREAMBLE.size:
        return content
    start = bytearray(content[: PREAMBLE.size])
    start[24:32] = len(content).to_bytes(8, "little")
    digest = _digest(bytes(start))
    digest.update(content[PREAMBLE.size :])
    start[DIGEST] = digest.digest()
    return bytes(start) + content[PREAMBLE.size :]
