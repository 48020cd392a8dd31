"""Files of paths that mean harm: refused before anything large is unpacked, whatever they claim."""

import json
import os
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from budgetprune import InvalidInputError, PruningPath
from budgetprune.path import storage
from budgetprune.utils import archive as archives

from ..persistence.archives import little_memory, rewrite, write_zeros
from .test_path import build_problem, nested

pytestmark = pytest.mark.nojit


@pytest.fixture(scope="module")
def path():
    problem = build_problem()
    return PruningPath.of(problem, nested(problem.forest), complete=True)


@pytest.fixture
def saved(tmp_path, path):
    path.save(tmp_path / "path.npz")
    return tmp_path / "path.npz"


def check_refused(file, words):
    with pytest.raises(InvalidInputError, match=words) as caught, little_memory():
        PruningPath.load(file)
    assert str(caught.value).startswith(f"{file} is not a path that budgetprune saved, or it is damaged (")


def change_arrays(file, **changes):
    """Replace arrays by others, of the same type unless they are arrays themselves."""
    with np.load(file) as archive:
        arrays = dict(archive)
    for name, change in changes.items():
        arrays[name] = change(arrays[name]) if callable(change) else change
    np.savez_compressed(file, **{name: array for name, array in arrays.items() if array is not None})


def change_header(file, *keys, to):
    with np.load(file) as archive:
        header = inner = json.loads(archive["header"].tobytes())
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    change_arrays(file, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))


# --- Bombs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [
        ("more.npy", "|u1", (2**28,)),
        ("lam.npy", "<f8", (2**25,)),
        ("forest.value.npy", "<f8", (2**18, 2**7)),
        ("header.npy", "|u1", (2**28,)),
    ],
)
def test_zeros_that_unpack_to_much_more_than_the_file(saved, name, dtype, shape):
    rewrite(saved, lambda members: members.pop(name, None))
    with zipfile.ZipFile(saved, "a") as archive:
        write_zeros(archive, name, dtype, shape)
    check_refused(saved, r"its \d+ bytes unpack to \d+; more than \d+ are refused")


def test_unknown_members_are_not_unpacked(saved):
    with zipfile.ZipFile(saved, "a") as archive:
        write_zeros(archive, "more.npy", "|u1", (2**25,))
    check_refused(saved, "unknown array, 'more'")


def test_a_long_header_is_not_unpacked(saved):
    rewrite(saved, lambda members: members.pop("header.npy"))
    with zipfile.ZipFile(saved, "a") as archive:
        write_zeros(archive, "header.npy", "|u1", (2**25,))
    check_refused(saved, "its header cannot have 33554432 bytes")


def test_more_nodes_than_bytes(saved, tmp_path):
    """All sizes agree with each other, but nodes need more room than this file has."""
    n_nodes, bomb = 500_000, tmp_path / "bomb.npz"
    with np.load(saved) as archive, zipfile.ZipFile(bomb, "w") as made:
        for name in archive.files:
            if name in storage._OF_NODES:
                shape = (n_nodes, *archive[name].shape[1:])
                write_zeros(made, f"{name}.npy", archive[name].dtype.str, shape)
            else:
                with made.open(f"{name}.npy", "w") as member:
                    np.save(member, archive[name])
    with little_memory():  # the archive itself is within the limits
        archives.check_archive(bomb)
    check_refused(bomb, "500000 nodes in 3 trees do not fit into")


def test_sizes_that_contradict_each_other(saved):
    for name in ("forest.value", "forest.class_weight", "forest.weight", "critical_lambda", "cost"):
        good = saved.read_bytes()
        change_arrays(saved, **{name: lambda array: np.concatenate([array, array])})
        check_refused(saved, f"{name} has .* entries, but should have")
        saved.write_bytes(good)
    change_arrays(saved, **{"forest.value": lambda array: np.repeat(array, 7, axis=1)})
    check_refused(saved, "forest.value has 14 columns")
    saved.write_bytes(good)
    change_arrays(saved, **{"forest.weight": lambda array: array.astype(np.float32)})
    check_refused(saved, "forest.weight must be an array of float64")


def test_directories_that_lie(saved):
    """The sizes of the directory bound what is read, whatever the members hold."""
    good = saved.read_bytes()
    place = good.rindex(b"lam.npy") - 46  # in the directory, which comes last
    assert good[place : place + 4] == b"PK\1\2"
    packed, unpacked = struct.unpack_from("<II", good, place + 20)

    def check_lie(words, at, value, width="<I"):
        bad = bytearray(good)
        struct.pack_into(width, bad, place + at, value)
        saved.write_bytes(bad)
        check_refused(saved, words)

    check_lie("cannot have 4294967294 bytes|unpack to", 24, 2**32 - 2)
    check_lie("cannot have|damaged", 24, unpacked - 8)
    check_lie("cannot have|damaged", 24, unpacked + 8)
    check_lie("overlap", 20, len(good))
    check_lie("damaged|shorter|longer", 20, packed - 4)
    check_lie("outside of the file|damaged", 42, len(good) + 5)
    check_lie("encrypted", 8, 1, "<H")
    check_lie("other means than deflate", 10, zipfile.ZIP_LZMA, "<H")


def test_members_that_are_there_twice(saved):
    with zipfile.ZipFile(saved, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("lam.npy", archive.read("lam.npy"))
    check_refused(saved, "two members of the name 'lam.npy'")


def test_a_long_directory_is_not_read(saved):
    with zipfile.ZipFile(saved, "a") as archive:
        for k in range(500):
            archive.writestr(f"{k}" + "a" * 4000, b"")
    check_refused(saved, r"its directory cannot have \d+ bytes")


def test_descriptions_are_not_evaluated(saved):
    def describe(text):
        def change(members):
            head = text.ljust(117).encode() + b"\n"
            members["lam.npy"] = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(8)

        return change

    good = saved.read_bytes()
    for text in (
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1), }",
        "(" * 9000,
        "-" * 9000 + "1",
    ):
        rewrite(saved, describe(text))
        check_refused(saved, "array 'lam' must hold numbers")
        saved.write_bytes(good)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_pipes_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_refused(tmp_path / "pipe", "it is no regular file")


# --- What is ours is loaded ---------------------------------------------------------------------------------


def test_what_compresses_too_well_is_saved_without_compression(path, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ALWAYS_ALLOWED", 1)
    monkeypatch.setattr(archives, "LARGEST_RATIO", 2)
    path.save(tmp_path / "path.npz")
    with zipfile.ZipFile(tmp_path / "path.npz") as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    loaded = PruningPath.load(tmp_path / "path.npz")
    assert loaded.critical_lambda.tolist() == path.critical_lambda.tolist()


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("error", ["in-bag", "held-out"])
@pytest.mark.parametrize(
    "options",
    [{}, {"certify": True}, {"lams": [0.3, 0.0, 1e-3, 2.0]}, {"budgets": [1.0, 3.0]}, {"resolution": 0.5}],
    ids=str,
)
def test_paths_of_the_solver_agree_with_themselves(tmp_path, regression, error, options):
    rng = np.random.default_rng(5)
    y = rng.normal(size=30) if regression else rng.choice(["no", "yes"], 30)
    weight = 0.0 if "budgets" in options else 0.01
    problem = build_problem(regression=regression, y_cost=y, error=error, computation_weight=weight)
    path = problem.path(**options)
    path.save(tmp_path / "path.npz")
    assert PruningPath.load(tmp_path / "path.npz").to_frame().equals(path.to_frame())


def test_other_byte_orders_and_layouts(saved, path):
    """As a machine with another byte order would write them, and as Fortran would."""
    change_arrays(
        saved,
        lam=lambda array: array.astype(">f8"),
        **{"forest.value": np.asfortranarray, "forest.classes": lambda array: array.astype(">U3")},
    )
    loaded = PruningPath.load(saved)
    rows = np.random.default_rng(0).normal(size=(20, 4))
    assert loaded.lam.dtype == np.float64
    assert loaded.forest.predict(rows).tolist() == path.forest.predict(rows).tolist()


def test_names_too_long_for_a_header_are_not_saved(path, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "LONGEST_HEADER", 1000)
    long = replace(path, forest=replace(path.forest, feature_names=("a" * 900, "b", "c", "d")))
    with pytest.raises(InvalidInputError, match="room for 1000; shorten them"):
        long.save(tmp_path / "path.npz")
    assert list(tmp_path.iterdir()) == []


# --- Paths that contradict themselves -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"critical_lambda": np.zeros_like}, "n_splits of its path must be the number of larger"),
        ({"n_splits": lambda a: a[::-1]}, "n_splits of its path must be the number of larger"),
        ({"lam": lambda a: a - 0.001}, "lam of its path must not be negative"),
        ({"lam": lambda a: a[::-1]}, "with growing lam"),
        ({"lam": lambda a: np.append(a[:-1], np.inf)}, "lam of its path must be finite"),
        ({"lam": lambda a: a * 1.0001}, "n_splits|said to be complete"),
        ({"cost": lambda a: a[::-1]}, "no growing cost"),
        ({"cost": lambda a: a - 100}, "a cost of its path is negative"),
        ({"cost": lambda a: a + 100}, "costs more than the unpruned forest"),
        ({"cost": lambda a: a * 0 + a[0]}, "has a cost, but no splits"),
        ({"cost": lambda a: a * np.nan}, "needs points|must be finite"),
        ({"error": lambda a: a[::-1]}, "error falls as lam grows"),
        ({"error": lambda a: a * np.nan}, "error of its path must be finite"),
        ({"error": lambda a: a + 1}, "objective of its path is less"),
        ({"objective": lambda a: a * np.inf}, "objective of its path must be finite"),
        ({"bound": np.zeros_like, "gap": None}, "only one of bound and gap"),
        ({"bound": lambda a: a * np.nan}, "bound of its path must be finite"),
        ({"gap": lambda a: a - 1}, "gap of its path must be positive"),
        ({"gap": lambda a: a * np.nan}, "gap of its path must be positive"),
    ],
)
def test_numbers_that_contradict_each_other(tmp_path, path, changes, words):
    certified = replace(path, bound=path.objective - 0.001, gap=np.full(len(path), 0.001))
    certified.save(tmp_path / "path.npz")
    PruningPath.load(tmp_path / "path.npz")
    change_arrays(tmp_path / "path.npz", **changes)
    check_refused(tmp_path / "path.npz", words)


@pytest.mark.parametrize(
    ("keys", "to", "words"),
    [
        (["complete"], 1, "'complete' of its path must be true or false"),
        (["complete"], "yes", "'complete' of its path must be true or false"),
        (["source_names"], [1, 2, 3, 4], "must be a list of strings"),
        (["source_names"], "abcd", "must be a list of strings"),
        (["source_names"], ["a", "a"], "must differ"),
        (["unpruned"], {"error": 0.1}, "must have 'error' and 'cost'"),
        (["unpruned"], None, "must have 'error' and 'cost'"),
        (["unpruned", "error"], "0.1", "must be finite numbers"),
        (["unpruned", "error"], True, "must be finite numbers"),
        (["unpruned", "cost"], -1.0, "a cost of its path is negative"),
        (["unpruned", "cost"], 0.0, "costs more than the unpruned forest"),
        (["version"], True, "no version"),
        (["version"], 0, "no version"),
        (["more"], 1, "must have the keys"),
        (["forest", "divisor"], "3", "divisor"),
        (["forest", "n_features"], float("nan"), "NaN"),
    ],
)
def test_headers_that_contradict_the_arrays(saved, keys, to, words):
    change_header(saved, *keys, to=to)
    check_refused(saved, words)
