"""Atomic file writes; devices and pipes are written directly."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import platform
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

File = str | os.PathLike[str]

_STANDARD_OUTPUT = 1
_WRITE = os.O_WRONLY | getattr(os, "O_BINARY", 0)  # Windows would change line ends
_MOST_LINKS = 40  # that Linux follows


@contextmanager
def written_atomically(file: File) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` once it is complete; remove it on failure.

    Symbolic links stay, and their target is replaced. The new file gets the permissions of the file that it
    replaces, and its owner and group where that is allowed. Devices, pipes and open descriptors
    (``/dev/stdout``) receive all bytes at the end.
    """
    destination = find_destination(file)
    if destination.is_stream:
        content = io.BytesIO()
        yield content
        _send(content, destination)
    else:
        with _replacing(destination) as handle:
            yield handle


def check_writable(file: File) -> None:
    """Raise an OSError early if `written_atomically` could not write the file later."""
    destination = find_destination(file)
    if destination.is_stream:
        _check_stream(destination)
        return
    draft, handle = _open_draft(destination)
    handle.close()
    draft.unlink()


def is_standard_output(file: File | None) -> bool:
    """Whether a name such as ``/dev/stdout`` is the standard output of this process."""
    return file is not None and _descriptor_of(Path(file)) == _STANDARD_OUTPUT


# --- Resolving names ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Destination:
    """Target of a file name, after symbolic links are followed.

    Attributes
    ----------
    path : Path
    found : status of the existing file, or None
    descriptor : number of an open descriptor of this process, or None
    """

    path: Path
    found: os.stat_result | None
    descriptor: int | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the target is written to, not replaced: a device, a pipe, an open descriptor."""
        return self.descriptor is not None or (self.found is not None and not self.is_file)

    @property
    def is_file(self) -> bool:
        """Whether a regular file exists and would be replaced."""
        return self.descriptor is None and self.found is not None and stat.S_ISREG(self.found.st_mode)


def find_destination(file: File) -> Destination:
    """Resolve a name; raise an OSError if it cannot be written to."""
    path = Path(file)
    descriptor = _descriptor_of(path)
    if descriptor is not None:
        with _named(path):
            return Destination(path, os.fstat(descriptor), descriptor)
    try:
        found = os.stat(path)
    except FileNotFoundError:
        found = None
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if os.path.islink(path) and (found is None or stat.S_ISREG(found.st_mode)):
        path = Path(os.path.realpath(path))
    if found is None and not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", str(path.parent))
    return Destination(path, found)


def _descriptor_of(path: Path) -> int | None:
    """Number of the descriptor for a name such as ``/dev/stdout`` or ``/dev/fd/63``.

    Opening such a name again would truncate a file that the shell has opened, perhaps to append.
    """
    folders = {os.path.realpath(folder) for folder in ("/dev/fd", "/proc/self/fd")}
    for _ in range(_MOST_LINKS):
        if re.fullmatch("[0-9]+", path.name) and os.path.realpath(path.parent) in folders:
            return int(path.name)
        if not os.path.islink(path):
            return None
        path = path.parent / os.readlink(path)
    return None


# --- Streams ------------------------------------------------------------------------------------------------


def _send(content: io.BytesIO, destination: Destination) -> None:
    if destination.descriptor is None:
        # Without O_CREAT: in world-writable folders, Linux refuses to "create" pipes of other users.
        descriptor = os.open(destination.path, _WRITE)
    else:
        if destination.descriptor == _STANDARD_OUTPUT and sys.stdout is not None:
            sys.stdout.flush()
        descriptor = os.dup(destination.descriptor)
    with _named(destination.path), open(descriptor, "wb") as handle:
        handle.write(content.getbuffer())


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the file name to an error raised for a descriptor."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _check_stream(destination: Destination) -> None:
    path, descriptor = destination.path, destination.descriptor
    if descriptor is None:
        if stat.S_ISSOCK(destination.found.st_mode if destination.found else 0):
            raise OSError(errno.ENXIO, "it is a socket, which cannot be opened as a file", str(path))
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    elif fcntl is not None and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "it is open for reading only", str(path))


# --- Drafts: temporary files that become the file -----------------------------------------------------------


@contextmanager
def _replacing(destination: Destination) -> Iterator[BinaryIO]:
    """Write a draft in the same folder, because a rename is atomic within a file system only."""
    draft, handle = _open_draft(destination)
    try:
        with handle:
            yield handle
            handle.flush()
            if destination.found is not None:
                _keep_access(handle.fileno(), destination.found)
            os.fsync(handle.fileno())
            if fcntl is None:  # Windows renames only files that are closed
                handle.close()
            # Elsewhere the lock is held until the draft has its name, so that it is never taken for stale.
            os.replace(draft, destination.path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def _open_draft(destination: Destination) -> tuple[Path, BinaryIO]:
    """Create a draft that is locked while it is open; remove stale drafts of killed processes."""
    prefix = _prefix(destination.path)
    _remove_stale(destination.path.parent, prefix)
    # Until a draft has the permissions of the file that it replaces, only its owner may read it.
    mode = 0o666 if destination.found is None else 0o600
    while True:
        # A short name: that of the file may be as long as the file system allows.
        draft = destination.path.with_name(f"{prefix}{os.getpid()}-{secrets.token_hex(4)}.tmp")
        descriptor = os.open(draft, _WRITE | os.O_CREAT | os.O_EXCL, mode)
        # Another process may have removed the draft as stale before it was locked.
        if _lock(descriptor) and os.fstat(descriptor).st_nlink:
            return draft, os.fdopen(descriptor, "wb")
        os.close(descriptor)


def _prefix(path: Path) -> str:
    """Prefix of the names of drafts for one file, written on this host.

    Other hosts may not see the locks of a network file system, so each host only removes its own drafts.
    """
    digest = hashlib.sha256(f"{platform.node()}\0{path.name}".encode(errors="surrogateescape")).hexdigest()
    return f".budgetprune-{digest[:16]}-"


def _lock(descriptor: int) -> bool:
    """Lock a draft; False if another process holds the lock. Some file systems have no locks."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass
    return True


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove drafts that no running process has locked."""
    if fcntl is None:
        return
    for draft in folder.glob(f"{prefix}*.tmp"):
        with suppress(OSError):  # it belongs to another user, or is gone by now
            descriptor = os.open(draft, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()
            finally:
                os.close(descriptor)


def _keep_access(descriptor: int, found: os.stat_result) -> None:
    """Give a draft the permissions of the file that it replaces, and owner and group where allowed."""
    if not hasattr(os, "fchown"):  # Windows
        return
    mode = stat.S_IMODE(found.st_mode) & 0o777
    try:
        os.fchown(descriptor, found.st_uid, found.st_gid)
    except OSError:
        try:
            os.fchown(descriptor, -1, found.st_gid)
        except OSError:
            # A different group must not get the rights of the former group: it gets the rights of others.
            mode = mode & 0o707 | (mode & 0o007) << 3
    with suppress(PermissionError):  # file systems without permissions
        os.fchmod(descriptor, mode)
