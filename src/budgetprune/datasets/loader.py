"""Loading of a data set from a local file, the public source's files, or a verified download."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import numpy as np

from budgetprune.datasets.dataset import Arrays, Folder, check_arrays
from budgetprune.datasets.files import VARIABLE, damage, folders, home_folder, read_npz, write_npz
from budgetprune.errors import DatasetError

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"

_TIMEOUT = 60  # timeout in seconds
_LARGEST = 2**24  # bytes; the files that `download` fetches have less than a megabyte


@dataclass(frozen=True)
class Loader:
    """Loader of one data set: a local file, the files of the public source, or a download.

    Attributes
    ----------
    name : str
    file : str
        Name of the ``.npz`` file to read, and to store a download in.
    advice : str
        Advice for users without the file: what to get, and from where. "Put it into ..." is added.
    originals : callable, optional
        Reads the public source's own files in a folder; returns None if they are not there.
    fetch : callable, optional
        Gets the arrays from the public source, given `data_home`.
    digest : str, optional
        Expected `digest` of the arrays, if there is only one version of them.
    """

    name: str
    file: str
    advice: str
    originals: Callable[[Path], Arrays | None] | None = None
    fetch: Callable[[Folder | None], Arrays] | None = None
    digest: str | None = None

    def load(self, data_home: Folder | None, download: bool) -> Arrays:
        """Return the arrays from the first location that has them.

        Parameters
        ----------
        data_home : folder where data sets are kept, or None for the default
        download : bool
            Whether to download from the public source if no file is found.
        """
        for folder in folders(data_home):
            if (folder / self.file).is_file():
                return self._checked(read_npz(folder / self.file), str(folder / self.file))
            found = None if self.originals is None else self.originals(folder)
            if found is not None:
                return self._checked(found, f"the data in {folder}")
        if self.fetch is None or not download:
            why = "" if self.fetch is None else ", and download=False prevents the download"
            raise DatasetError(
                f"{self.file} was found neither in {home_folder(data_home)} nor in a folder that {VARIABLE} "
                f"names{why}. {self._remedy(data_home)}"
            )
        try:
            arrays = self.fetch(data_home)
        except DatasetError:
            raise
        except (OSError, HTTPException, ValueError, ImportError) as error:  # sockets, OpenML, scikit-learn
            raise DatasetError(
                f"{self.name} could not be fetched ({type(error).__name__}: {error}). "
                f"{self._remedy(data_home)}"
            ) from error
        arrays = self._checked(arrays, f"the download of {self.name}")
        self._store(arrays, data_home)
        return arrays

    def _checked(self, arrays: Arrays, where: str) -> Arrays:
        check_arrays(arrays, where)
        if self.digest is not None and digest(arrays) != self.digest:
            raise DatasetError(
                f"{where} is not the {self.name} data that this package knows: its SHA-256 is "
                f"{digest(arrays)} instead of {self.digest}. It may be cut off or altered. {self.advice}"
            )
        return arrays

    def _store(self, arrays: Arrays, data_home: Folder | None) -> None:
        try:
            write_npz(home_folder(data_home) / self.file, arrays)
        except OSError as error:  # the rows can be used anyway
            warnings.warn(f"{self.name} could not be stored for later use ({error}).", stacklevel=4)

    def _remedy(self, data_home: Folder | None) -> str:
        return f"{self.advice} Put it into {home_folder(data_home)}, or into a folder that {VARIABLE} names."


def digest(arrays: Arrays) -> str:
    """SHA-256 of rows and labels, independent of their stored type."""
    total = hashlib.sha256(np.ascontiguousarray(arrays["X"], dtype="<f4").data)
    total.update(np.ascontiguousarray(arrays["y"], dtype="<i8").data)
    return total.hexdigest()


def download(url: str) -> bytes:
    """Download a small file."""
    with urlopen(url, timeout=_TIMEOUT) as response:
        content: bytes = response.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DatasetError(f"{url} is larger than {_LARGEST:,} bytes, which cannot be right.")
    return content


@dataclass(frozen=True)
class UciFiles:
    """Files of one data set in the UCI repository.

    Attributes
    ----------
    folder : str
        Folder in the repository.
    names : tuple of str
    parse : callable
        Makes the arrays from the contents of the files, in the order of `names`.
    """

    folder: str
    names: tuple[str, ...]
    parse: Callable[..., Arrays]

    @property
    def advice(self) -> str:
        """Advice for users without the files."""
        return f"Get {' and '.join(self.names)} from {UCI}{self.folder}/."

    def read(self, folder: Path) -> Arrays | None:
        """Read the files in a local folder; None unless all of them exist."""
        files = [folder / name for name in self.names]
        if not all(file.is_file() for file in files):
            return None
        contents = [file.read_bytes() for file in files]
        with damage(files[0]):
            return self.parse(*contents)

    def fetch(self, _: Folder | None) -> Arrays:
        """Download the files."""
        return self.parse(*(download(f"{UCI}{self.folder}/{name}") for name in self.names))
