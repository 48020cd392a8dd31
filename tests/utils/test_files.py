"""Files that are written at once: what is replaced, what stays, and what killed processes leave."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import budgetprune
from budgetprune.utils import files
from budgetprune.utils.files import check_writable, is_standard_output, written_atomically

pytestmark = [
    pytest.mark.uncompiled,
    pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX"),
]


def write(file: Path | str, content: bytes = b"new") -> None:
    with written_atomically(file) as handle:
        handle.write(content)


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_a_failure_leaves_what_was_there(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"old")

    def fail() -> None:
        with written_atomically(file) as handle:
            handle.write(b"half")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


# --- Permissions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_replaced_file_keeps_its_permissions(tmp_path, mode):
    file = tmp_path / "a"
    file.write_bytes(b"old")
    file.chmod(mode)
    before = file.stat()
    write(file)
    after = file.stat()
    assert file.read_bytes() == b"new"
    assert (mode_of(file), after.st_uid, after.st_gid) == (mode, before.st_uid, before.st_gid)


def test_a_draft_of_a_private_file_is_private(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"old")
    with written_atomically(file) as handle:
        assert stat.S_IMODE(os.fstat(handle.fileno()).st_mode) == 0o600


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_usual_permissions(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write(tmp_path / "a")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a") == mode


def test_a_group_that_cannot_be_kept_gives_no_rights_to_another(tmp_path, monkeypatch):
    def refuse(*_which: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    for mode, kept in ((0o640, 0o600), (0o664, 0o644), (0o600, 0o600)):
        file = tmp_path / f"{mode}"
        file.write_bytes(b"old")
        file.chmod(mode)
        write(file)
        assert mode_of(file) == kept


def test_owner_and_group_are_kept_where_that_is_allowed(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    file = tmp_path / "a"
    file.write_bytes(b"old")
    os.chown(file, 65534, 65533)
    write(file)
    assert (file.stat().st_uid, file.stat().st_gid) == (65534, 65533)


# --- Links --------------------------------------------------------------------------------------------------


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link, second = tmp_path / "there" / "a", tmp_path / "link", tmp_path / "second"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(Path("there") / "a")
    second.symlink_to(link)
    write(second)
    assert link.is_symlink()
    assert second.is_symlink()
    assert not target.is_symlink()
    assert target.read_bytes() == b"new"
    assert mode_of(target) == 0o640
    assert list(target.parent.iterdir()) == [target]


def test_the_target_of_a_dangling_link_is_created(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a")
    check_writable(tmp_path / "link")
    assert not (tmp_path / "there" / "a").exists()
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "a").read_bytes() == b"new"


# --- Names that cannot be written to ------------------------------------------------------------------------


@pytest.mark.parametrize("attempt", [check_writable, write])
def test_names_that_cannot_be_written_to(tmp_path, attempt):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "a")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, kind in (
        ("", IsADirectoryError),
        ("nowhere/a", FileNotFoundError),
        ("dangling", FileNotFoundError),
        ("file/a", NotADirectoryError),
        ("loop", OSError),
        ("a" * 300, OSError),
    ):
        with pytest.raises(kind):
            attempt(tmp_path / name)
    assert {file.name for file in tmp_path.iterdir()} == {"file", "dangling", "loop"}


def test_names_as_long_as_the_file_system_allows(tmp_path):
    file = tmp_path / ("a" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    check_writable(file)
    write(file)
    assert file.read_bytes() == b"new"


# --- Devices, pipes and descriptors -------------------------------------------------------------------------


def test_a_device_stays_a_device():
    check_writable(os.devnull)
    write(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize("through_link", [False, True])
def test_a_pipe_is_written_through(tmp_path, through_link):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    name = pipe
    if through_link:
        name = tmp_path / "link"
        name.symlink_to(pipe)
    check_writable(name)  # must not open the pipe, whose reader would see its end
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write(name, b"new" * 100_000)
    reader.join(30)
    assert received == [b"new" * 100_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_archive_fits_into_a_pipe(tmp_path):
    np = pytest.importorskip("numpy")
    read, sent = os.pipe()
    with written_atomically(f"/dev/fd/{sent}") as handle:
        np.savez_compressed(handle, a=np.arange(3))
    os.close(sent)
    with open(read, "rb") as pipe:
        (tmp_path / "a.npz").write_bytes(pipe.read())
    assert np.load(tmp_path / "a.npz")["a"].tolist() == [0, 1, 2]


def test_a_failure_sends_nothing():
    read, sent = os.pipe()

    def fail() -> None:
        with written_atomically(f"/dev/fd/{sent}") as handle:
            handle.write(b"half")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    os.close(sent)
    with open(read, "rb") as pipe:
        assert pipe.read() == b""


def test_a_descriptor_of_a_file_goes_on_where_it_is(tmp_path):
    """``(echo first; command --out /dev/stdout) > file``: what is there already stays."""
    (tmp_path / "link").symlink_to("/dev/fd")
    with open(tmp_path / "a", "wb") as handle:
        handle.write(b"first ")
        handle.flush()
        check_writable(f"/dev/fd/{handle.fileno()}")
        write(f"/dev/fd/{handle.fileno()}", b"second ")
        write(tmp_path / "link" / str(handle.fileno()), b"third")
    assert (tmp_path / "a").read_bytes() == b"first second third"


def test_a_descriptor_that_cannot_be_written_to(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with open(tmp_path / "a", "rb") as handle, pytest.raises(OSError, match="reading only"):
        check_writable(f"/dev/fd/{handle.fileno()}")
    with pytest.raises(OSError, match="Bad file descriptor"):
        check_writable("/dev/fd/987654")


def test_names_of_standard_output(tmp_path):
    (tmp_path / "link").symlink_to("/dev/stdout")
    for name in ("/dev/stdout", "/dev/fd/1", tmp_path / "link"):
        assert is_standard_output(name)
    for name in ("/dev/stderr", "/dev/null", tmp_path / "1", tmp_path, None):
        assert not is_standard_output(name)


# --- Drafts of processes that were killed -------------------------------------------------------------------

WRITER = """
import sys
from budgetprune.utils.files import written_atomically
with written_atomically(sys.argv[1]) as handle:
    handle.write(b"half")
    handle.flush()
    print("begun", flush=True)
    sys.stdin.read()
"""


def begin_writing(file: Path) -> subprocess.Popen[str]:
    """Start a process that has written half of a file, and ends when its standard input does."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(budgetprune.__file__).parents[1])},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def drafts(folder: Path) -> list[Path]:
    return sorted(folder.glob(".budgetprune-*.tmp"))


def test_drafts_of_killed_processes_are_removed_and_those_of_others_are_not(tmp_path):
    file = tmp_path / "a"
    with begin_writing(file) as killed, begin_writing(file) as living:
        assert [f"-{process.pid}-" in str(drafts(tmp_path)) for process in (killed, living)] == [True, True]
        killed.send_signal(signal.SIGKILL)
        killed.wait(30)
        assert len(drafts(tmp_path)) == 2
        write(tmp_path / "other")  # of another file
        assert len(drafts(tmp_path)) == 2
        write(file)
        assert [f"-{living.pid}-" in draft.name for draft in drafts(tmp_path)] == [True]
        living.communicate(timeout=30)
    assert living.returncode == 0
    assert file.read_bytes() == b"half"
    assert drafts(tmp_path) == []


def test_drafts_of_other_hosts_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(files.platform, "node", lambda: "elsewhere")
    theirs = tmp_path / f"{files._prefix(tmp_path / 'a')}1-00000000.tmp"
    theirs.write_bytes(b"half")
    monkeypatch.undo()
    write(tmp_path / "a")
    assert drafts(tmp_path) == [theirs]


def test_a_draft_that_is_taken_for_stale_before_it_is_locked(tmp_path, monkeypatch):
    """Another process may look for stale drafts between the creation of one and its lock."""
    lock, removed = files._lock, []

    def late(descriptor: int) -> bool:
        if not removed:
            removed.extend(drafts(tmp_path))
            files._remove_stale(tmp_path, files._prefix(tmp_path / "a"))
        return lock(descriptor)

    monkeypatch.setattr(files, "_lock", late)
    write(tmp_path / "a")
    assert len(removed) == 1
    assert (tmp_path / "a").read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(*_how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    stale = tmp_path / f"{files._prefix(tmp_path / 'a')}1-00000000.tmp"
    stale.write_bytes(b"half")
    monkeypatch.setattr(files.fcntl, "flock", refuse)
    write(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert drafts(tmp_path) == [stale]  # it may be somebody's
