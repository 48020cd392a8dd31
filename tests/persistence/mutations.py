"""Damaged model files: by accident (changed bytes), or on purpose (changed header and arrays)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from budgetprune.persistence.container import ALIGNMENT, PREAMBLE

from ..fuzzing import FLOATS, INTEGERS
from ..predictor.extremes import edit_ranges, models_of_numbers
from .parts import GOLDEN, Parts, assemble, repaired

MODELS = [file for file in GOLDEN if not file.stem.startswith("path")]


@cache
def originals() -> tuple[bytes, ...]:
    """Valid files."""
    return (*(file.read_bytes() for file in MODELS), *models_of_numbers())


# --- Accidents ----------------------------------------------------------------------------------------------


def mutate_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip, overwrite, cut, insert, delete, repeat."""
    if not content:
        return rng.bytes(3)
    data, i = bytearray(content), int(rng.integers(len(content)))
    length = int(rng.choice([1, 2, 4, 8, 64, 200]))
    match rng.integers(8):
        case 0:
            data[i] ^= 1 << int(rng.integers(8))
        case 1:
            data[i : i + length] = rng.bytes(len(data[i : i + length]))
        case 2:
            del data[i:]
        case 3:
            data[i:i] = rng.bytes(length)
        case 4:
            del data[i : i + length]
        case 5:
            j = int(rng.integers(len(data)))
            data[i : i + length] = data[j : j + length]
        case 6:
            data[i:i] = data[max(0, i - length) : i]
        case _:
            width = int(rng.choice([4, 8]))
            i -= i % width
            number = int(rng.choice(INTEGERS)) % 2 ** (8 * width)
            data[i : i + width] = number.to_bytes(width, "little")
    return bytes(data)


def accident(seed: int, files: Sequence[bytes] | None = None) -> bytes:
    """A valid file, or two halves of two, with mutated bytes; mostly with a valid checksum."""
    rng = np.random.default_rng(seed)
    files = originals() if files is None else files
    content = files[rng.integers(len(files))]
    where = rng.choice(["header", "body", "anywhere", "splice"], p=[0.25, 0.45, 0.2, 0.1])
    n_times = int(rng.choice([1, 1, 1, 2, 3]))
    if where in ("header", "body"):
        _, version, n_header, _, _ = PREAMBLE.unpack_from(content)
        end = PREAMBLE.size + n_header
        text, body = content[PREAMBLE.size : end].rstrip(), content[end:]
        for _ in range(n_times):
            if where == "header":
                text = mutate_bytes(text, rng)
            else:
                body = mutate_bytes(body, rng)
        body = body if rng.random() < 0.3 else body[: len(body) // ALIGNMENT * ALIGNMENT]
        content = assemble(text, body, version)
    elif where == "splice":
        other = files[rng.integers(len(files))]
        content = content[: rng.integers(len(content))] + other[rng.integers(len(other)) :]
    else:
        for _ in range(n_times):
            content = mutate_bytes(content, rng)
    return repaired(content) if rng.random() < 0.85 else mutate_bytes(content, rng)


# --- Intent -------------------------------------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([*INTEGERS, 2**64, 10**30])
    | st.sampled_from(FLOATS)
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(
        [
            "identity",
            "logistic",
            "softmax",
            "exp",
            "argmax",
            "positive",
            "likeliest",
            "squared",
            "nan",
            "<f4",
            "O",
        ]
    )
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """All values inside a JSON value, as (container, key)."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, part in inside for place in ((value, key), *places(part))]


def edit_header(draw: st.DrawFn, parts: Parts) -> None:
    container, key = draw(st.sampled_from(places(parts.header)))
    match draw(st.sampled_from(["replace", "replace", "delete", "add", "wrap"])):
        case "replace":
            container[key] = draw(JSON)
        case "delete":
            del container[key]
        case "add" if isinstance(container, dict):
            container[draw(st.text(max_size=4))] = draw(JSON)
        case "add":
            container.insert(key, draw(SCALARS))
        case "wrap":
            container[key] = [container[key]]


def put(array: np.ndarray, i: int, number: int) -> None:
    """Store a whole number, truncated to the array's type."""
    with np.errstate(all="ignore"):
        array[i] = np.uint64(number % 2**64).view(np.int64).astype(array.dtype)


def edit_entries(draw: st.DrawFn, parts: Parts) -> None:
    """Change entries of an array: to extremes, to other entries, or by one."""
    array = parts.arrays[draw(st.integers(0, len(parts.arrays) - 1))]
    if array.size == 0:
        return
    raw = array.reshape(-1)
    for _ in range(draw(st.integers(1, 3))):
        i, j = (draw(st.integers(0, raw.size - 1)) for _ in range(2))
        match raw.dtype.kind:
            case "i" | "u":
                near = [int(raw[j]), int(raw[i]) + 1, int(raw[i]) - 1]
                put(raw, i, draw(st.sampled_from(INTEGERS) | st.sampled_from(near)))
            case "f":
                raw[i] = draw(st.sampled_from(FLOATS) | st.just(raw[j]))
            case "b":
                raw.view(np.uint8)[i] = draw(st.sampled_from([0, 1, 2, 255]))
            case _:
                units = raw.view(np.uint32)
                units[draw(st.integers(0, units.size - 1))] = draw(
                    st.sampled_from([0, 65, 0xD800, 0xDFFF, 0x10FFFF, 0x110000, 2**32 - 1])
                )


def edit_size(draw: st.DrawFn, parts: Parts) -> None:
    """Make an array longer, shorter, wider, empty, or of another type."""
    i = draw(st.integers(0, len(parts.arrays) - 1))
    array = parts.arrays[i]
    match draw(st.sampled_from(["repeat", "cut", "empty", "column", "flat", "cast", "reverse"])):
        case "repeat":
            array = np.concatenate([array, array[: draw(st.integers(0, len(array)))]])
        case "cut":
            array = array[: draw(st.integers(0, len(array)))]
        case "empty":
            array = array[:0]
        case "column":
            array = array.reshape(len(array), array[:1].size)[:, : draw(st.integers(0, 1))]
        case "flat":
            array = array.reshape(-1)
        case "cast" if array.dtype.kind not in "US":
            with np.errstate(all="ignore"):
                array = array.astype(draw(st.sampled_from(["<i1", "<i4", "<i8", "<f4", "<f8", "|b1", "<u4"])))
        case "reverse":
            array = array[::-1].copy()
    parts.arrays[i] = array
    parts.describe()


def edit_all_nodes(draw: st.DrawFn, parts: Parts) -> None:
    """Reorder nodes in all arrays with an entry per node, so that only their order is wrong."""
    feature, ends = parts.forest(draw, "feature", "tree_start")
    n = feature.size
    if n == 0:
        return
    per_node = [i for i, array in enumerate(parts.arrays) if len(array) == n]
    a, b = (draw(st.integers(0, n - 1)) for _ in range(2))
    order = np.arange(n)
    match draw(st.sampled_from(["swap", "drop", "double", "rotate"])):
        case "swap":
            order[[a, b]] = order[[b, a]]
        case "drop":
            order = np.delete(order, a)
        case "double":
            order = np.insert(order, a, b)
        case "rotate":
            order = np.roll(order, a)
    for i in per_node:
        parts.arrays[i] = parts.arrays[i][order]
    if ends.size:
        put(ends, -1, order.size)
    parts.describe()


def edit_links(draw: st.DrawFn, parts: Parts) -> None:
    """Rewire children and parents together: cycles, crossings, children in other trees, none at all."""
    left, right, parent, feature = parts.forest(draw, "left", "right", "parent", "feature")
    n = min(map(len, (left, right, parent, feature)))
    if n == 0:
        return
    h, child = (draw(st.integers(0, n - 1)) for _ in range(2))
    if feature[h] < 0:
        put(feature, h, 0)
    put(left, h, draw(st.sampled_from([h + 1, child])))
    put(right, h, child)
    put(parent, child, h)
    if draw(st.booleans()) and h + 1 < n:
        put(parent, h + 1, h)


def edit_trees(draw: st.DrawFn, parts: Parts) -> None:
    """Move the boundaries between trees."""
    (start,) = parts.forest(draw, "tree_start")
    if start.size:
        i = draw(st.integers(0, start.size - 1))
        put(start, i, int(np.nan_to_num(start[i])) + draw(st.sampled_from([-8, -2, -1, 1, 2, 8])))


def edit_table(draw: st.DrawFn, parts: Parts) -> None:
    """Make the table of arrays wrong."""
    i = draw(st.integers(0, len(parts.table) - 1))
    entry = parts.table[i]
    match draw(st.sampled_from(["shape", "size", "dtype", "name", "drop", "double", "any", "swap"])):
        case "shape":
            entry["shape"] = draw(st.lists(st.sampled_from(INTEGERS) | SCALARS, max_size=3))
        case "size":
            entry["shape"][0] += draw(st.sampled_from([-1, 1, 8, 2**31, 2**47, 2**61]))
        case "dtype":
            dtypes = [
                "O",
                "|V8",
                "<i4,<i4",
                "<f8",
                "<u8",
                "|b1",
                ">i4",
                "<U3",
                "|S9",
                "<U999999",
                "<U0",
                "<M8[s]",
            ]
            entry["dtype"] = draw(st.sampled_from(dtypes))
        case "name":
            names = [other["name"] for other in parts.table if isinstance(other, dict)]
            entry["name"] = draw(st.sampled_from([*names, "forest.origin", "forest.", "", "costs.x"]))
        case "drop":
            del parts.table[i], parts.arrays[i]
        case "double":
            parts.table.append(dict(entry))
            parts.arrays.append(parts.arrays[i])
        case "any":
            parts.table[i] = draw(JSON)
        case "swap":
            j = draw(st.integers(0, len(parts.table) - 1))
            parts.table[i], parts.table[j] = parts.table[j], parts.table[i]


TEXT_EDITS: list[Callable[[str], str]] = [
    lambda text: text.replace('"divisor":', '"divisor": NaN, "x":', 1),
    lambda text: text.replace('"slack":', '"slack": 1, "slack":', 1),
    lambda text: text.replace("null", "[" * 2000, 1),
    lambda text: text.replace("null", "[" * 5 + "]" * 5, 1),
    lambda text: text.replace("null", "1" * 5000, 1),
    lambda text: text.replace("null", "1e999", 1),
    lambda text: text.replace("null", "0." + "1" * 5000, 1),
    lambda text: text.replace("null", '"\\ud800"', 1),
    lambda text: text.replace("scan", "\\udc00", 1),
    lambda text: text + " {}",
    lambda text: "﻿" + text,
    lambda text: text[:-1],
]

Edit = Callable[[st.DrawFn, Parts], None]

EDITS: list[Edit] = [
    edit_header,
    edit_entries,
    edit_entries,
    edit_ranges,
    edit_size,
    edit_all_nodes,
    edit_links,
    edit_trees,
]


@st.composite
def intents(
    draw: st.DrawFn, files: Sequence[bytes] | None = None, edits: Sequence[Edit] | None = None
) -> bytes:
    """A hostile file: its checksum is valid, and mostly its sizes too."""
    parts = Parts(draw(st.sampled_from(originals() if files is None else files)))
    for _ in range(draw(st.integers(1, 2))):
        draw(st.sampled_from(EDITS if edits is None else edits))(draw, parts)
    if draw(st.integers(0, 4)) == 0:
        edit_table(draw, parts)
    text = parts.text()
    if draw(st.integers(0, 9)) == 0:
        text = draw(st.sampled_from(TEXT_EDITS))(text)
    return assemble(text.encode("utf-8", "surrogatepass"), parts.body(), parts.version)
