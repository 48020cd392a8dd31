"""Data folders and their ``.npz`` files."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from budgetprune.datasets.dataset import ARRAYS, Arrays, Folder, check_arrays
from budgetprune.errors import DatasetError
from budgetprune.utils.archive import open_archive
from budgetprune.utils.files import written_atomically

VARIABLE = "BUDGETPRUNE_DATA"


def home_folder(data_home: Folder | None) -> Path:
    """Folder for downloaded data sets; it need not exist."""
    if data_home is not None:
        return Path(data_home).expanduser()
    # Equals sklearn.datasets.get_data_home, which would create the folder.
    return Path(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")).expanduser() / "budgetprune"


def folders(data_home: Folder | None) -> Iterator[Path]:
    """Folders to search, in order: the argument, the environment variable, the default folder."""
    if data_home is not None:
        yield home_folder(data_home)
    named = os.environ.get(VARIABLE)
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise DatasetError(f"{VARIABLE} is {named!r}, which is not a folder; correct it or unset it.")
        yield folder
    if data_home is None:
        yield home_folder(None)


def read_npz(file: Path) -> Arrays:
    """Read the arrays of a data set from an untrusted file; other arrays are not unpacked."""
    with damage(file), open_archive(file) as archive:
        arrays = {name: archive.read(name) for name in archive.names if name in ARRAYS}
    return check_arrays(arrays, str(file))


def write_npz(file: Path, arrays: Arrays) -> None:
    """Write arrays atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_atomically(file) as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


@contextmanager
def damage(file: Path) -> Iterator[None]:
    """Turn any error about the content of a file into a single error type."""
    try:
        yield
    except DatasetError:
        raise
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise DatasetError(
            f"{file} is damaged, or not in the format that it should have ({type(error).__name__}: {error}); "
            "delete it and load again, or put a good copy in its place."
        ) from error
