"""Checks of output files, and writing of CSV files."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

from budgetprune.errors import InvalidInputError
from budgetprune.utils.files import check_writable, written_atomically


def check_out(out: Path | None, *inputs: Path | None) -> None:
    """Raise if the output file cannot be written or is one of the inputs."""
    if out is None:
        return
    try:
        check_writable(out)
    except OSError as error:
        raise InvalidInputError(_why_not_writable(out, error)) from error
    for given in inputs:
        if given is not None and out.exists() and given.exists() and out.samefile(given):
            raise InvalidInputError(f"--out {out} would replace what is read from there; name another file.")


def _why_not_writable(out: Path, error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return f"{out} is a folder; name a file in it."
    if isinstance(error, FileNotFoundError):
        return f"there is no folder {error.filename} to write {out.name} to; make it first."
    if error.errno == errno.ENAMETOOLONG:
        return f"the name of {out} is too long for the file system; name a file with a shorter name."
    # The name itself may be invalid: a closed descriptor, or a cycle of links.
    if error.errno in (errno.EBADF, errno.ELOOP) or (out.exists() and not out.is_file()):
        return f"nothing can be written to {out} ({error.strerror}); name another file."
    return f"nothing can be written to {out.parent} ({error.strerror}); name a file in another folder."


def check_shown(out: Path | None, *, quiet: bool, as_json: bool) -> None:
    """Raise if a command would produce no output."""
    if quiet and out is None and not as_json:
        raise InvalidInputError("--quiet leaves nothing to show; add --out or --json.")


def write_csv(table: Any, out: Path) -> None:
    """Write a DataFrame atomically."""
    with written_atomically(out) as handle:
        table.to_csv(handle, index=False, encoding="utf-8")
