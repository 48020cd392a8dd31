"""Path files of release 0.1: still read, and refused before anything large is unpacked."""

import os
import struct
import zipfile

import numpy as np
import pytest

from budgetprune import InvalidInputError, PruningPath
from budgetprune.path import npz
from budgetprune.utils import archive as archives

from ..golden.write import FOLDER, with_path
from ..persistence.archives import little_memory, rewrite, write_zeros
from .npz_files import as_bytes, change_arrays, read_header, write_npz

pytestmark = pytest.mark.uncompiled

GOLDEN = FOLDER / "path-2.npz"


@pytest.fixture
def saved(tmp_path, path):
    write_npz(path, tmp_path / "path.npz")
    return tmp_path / "path.npz"


def check_refused(file, words):
    with pytest.raises(InvalidInputError, match=words) as caught, little_memory():
        PruningPath.load(file)
    assert str(caught.value).startswith(f"{file} is not a path that budgetprune saved, or it is damaged (")


def change_header(file, *keys, to):
    header = inner = read_header(file)
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    change_arrays(file, header=as_bytes(header))


# --- Valid files --------------------------------------------------------------------------------------------


def test_golden_file_is_read():
    path, loaded = with_path().path, PruningPath.load(GOLDEN, forest=with_path().path.forest)
    assert loaded.to_frame().equals(path.to_frame())
    assert loaded.critical_lambda.tolist() == path.critical_lambda.tolist()
    assert loaded.source_names == path.source_names
    assert (loaded.unpruned.error, loaded.unpruned.cost) == (path.unpruned.error, path.unpruned.cost)


def test_files_of_these_tests_are_like_the_golden_file(tmp_path):
    """Array by array: other versions of zlib may compress to other bytes."""
    write_npz(with_path().path, tmp_path / "path.npz")
    with np.load(tmp_path / "path.npz") as ours, np.load(GOLDEN) as golden:
        assert list(ours) == list(golden)
        for name in golden:
            assert (ours[name].dtype, ours[name].tobytes()) == (golden[name].dtype, golden[name].tobytes())


def test_files_from_before_boosting(saved, path):
    """The first format knew neither boosted forests nor categories."""
    header = read_header(saved)
    header["version"] = 1
    for name in ("loss", "categories"):
        assert header["forest"].pop(name) is None
    change_arrays(saved, header=as_bytes(header))
    loaded = PruningPath.load(saved)
    assert np.array_equal(loaded.critical_lambda, path.critical_lambda)
    assert not loaded.forest.is_boosted
    assert PruningPath.load(saved, forest=path.forest).forest is path.forest


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
            if name in npz._OF_NODES:
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
    check_lie("other than deflate", 10, zipfile.ZIP_LZMA, "<H")


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
    with pytest.raises(InvalidInputError, match="pipe cannot be loaded: it is not a regular file"):
        PruningPath.load(tmp_path / "pipe")


# --- Other files, and damaged ones --------------------------------------------------------------------------


def damaged(saved):
    """Every way in which a file can be something else."""
    good = saved.read_bytes()
    for length in (0, 1, 3, 100, len(good) // 2, len(good) - 1):
        yield good[:length]
    rng = np.random.default_rng(0)
    for _ in range(40):
        bad = bytearray(good)
        start = rng.integers(len(bad) - 20)
        bad[start : start + 20] = rng.bytes(20)
        yield bytes(bad)
    yield b"lam,error\n0,1\n"


def test_damaged_files(saved, path):
    """Either the damage is in bytes that carry nothing (times, padding), or it is found."""
    for content in damaged(saved):
        saved.write_bytes(content)
        try:
            loaded = PruningPath.load(saved)
        except InvalidInputError as error:
            assert "path.npz" in str(error)  # noqa: PT017 (either way is fine)
        else:
            assert np.array_equal(loaded.critical_lambda, path.critical_lambda)
            assert np.array_equal(loaded.cost, path.cost)


def test_foreign_files(saved):
    np.save(saved.with_suffix(".npy"), np.arange(3))
    np.savez(saved.with_name("other.npz"), lam=[1.0])
    np.savez(saved.with_name("pickle.npz"), header=np.array([{}], dtype=object))
    with zipfile.ZipFile(saved.with_name("text.npz"), "w") as archive:
        archive.writestr("header", "not an array")
    for name in ("path.npy", "other.npz", "pickle.npz", "text.npz"):
        with pytest.raises(InvalidInputError, match=f"{name} is not a path that budgetprune saved"):
            PruningPath.load(saved.with_name(name))
    with pytest.raises(FileNotFoundError):
        PruningPath.load(saved.with_name("nothing.npz"))


def test_arrays_that_do_not_fit_are_found(saved, path):
    for changes in (
        {"cost": None},
        {"cost": path.cost[1:]},
        {"critical_lambda": path.critical_lambda[::-1]},
        {"forest.parent": np.zeros_like(path.forest.parent)},
        {"forest.value": None},
        {"forest.feature": np.zeros((2, 2))},
    ):
        good = saved.read_bytes()
        change_arrays(saved, **changes)
        with pytest.raises(InvalidInputError, match=r"path\.npz is not a path .* damaged \("):
            PruningPath.load(saved)
        saved.write_bytes(good)


def test_newer_files(saved):
    np.savez(saved, header=as_bytes(read_header(saved) | {"version": 99}))
    with pytest.raises(InvalidInputError, match=r"newer budgetprune \(format 99; this one reads up to 2\)"):
        PruningPath.load(saved)


# --- Headers that contradict the arrays ---------------------------------------------------------------------


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
