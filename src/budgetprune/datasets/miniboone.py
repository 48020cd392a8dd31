"""MiniBooNE particle identification, and the small split distributed with the paper's code."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from budgetprune.datasets.dataset import Arrays, Dataset, Folder, as_dataset
from budgetprune.datasets.loader import Loader
from budgetprune.errors import DatasetError

_OPENML_ID = 41150  # version 1 of "MiniBooNE", complete
_N_SIGNAL, _N_BACKGROUND = 36_499, 93_565
# SHA-256 of the signal rows in float32, sorted by their bytes, because OpenML may list them in any order.
_SIGNAL_DIGEST = "a9cac5d770078c0a7cf4c473a4ac6389d8a45b6af9245055a2f568ce50736daa"


def load_miniboone(data_home: Folder | None = None, download: bool = True) -> Dataset:
    """Load MiniBooNE: electron neutrinos (label 1) against muon neutrinos (label 0).

    130,064 rows, 50 features (-999 marks a missing reading), no prices. A local file may have fewer rows,
    such as the class-balanced subset of 72,998 rows; then `note` says so.

    Parameters
    ----------
    data_home : path, optional
        Folder where data sets are kept; by default ``budgetprune`` in scikit-learn's data home.
    download : bool, default=True
        Whether to download from OpenML if no file is found.

    Returns
    -------
    Dataset
    """
    arrays = _MINIBOONE.load(data_home, download)
    return as_dataset("MiniBooNE", arrays, note=_describe(arrays["y"]))


def load_miniboone_tiny(data_home: Folder | None = None, download: bool = True) -> Dataset:
    """Load the small split of MiniBooNE that came with the code of the paper: 2,000, 1,000 and 2,000 rows.

    Parameters
    ----------
    data_home : path, optional
        Folder where data sets are kept; by default ``budgetprune`` in scikit-learn's data home.
    download : bool, default=True
        Ignored: this split has no permanent public source.

    Returns
    -------
    Dataset
    """
    arrays = _TINY.load(data_home, download)
    return as_dataset("MiniBooNE (tiny)", arrays, note="the small split of MiniBooNE by the paper's authors")


def _describe(y: NDArray[np.integer]) -> str:
    complete = _N_SIGNAL + _N_BACKGROUND
    if len(y) >= complete:
        return ""
    counts = np.unique(y, return_counts=True)[1]
    balanced = "class-balanced " if len(counts) == 2 and counts[0] == counts[1] else ""
    return f"{balanced}subset of MiniBooNE: {len(y):,} of {complete:,} rows"


def _fetch(data_home: Folder | None) -> Arrays:
    X, target = fetch_openml(
        data_id=_OPENML_ID,
        data_home=data_home,
        return_X_y=True,
        as_frame=False,
        parser="pandas" if find_spec("pandas") else "liac-arff",  # the first is faster, but an extra
    )
    y = (np.asarray(target).astype(str) == "True").astype(np.int64)
    arrays: Arrays = {"X": X.astype(np.float32), "y": y}
    if (y.sum(), len(y)) != (_N_SIGNAL, _N_SIGNAL + _N_BACKGROUND) or _signal_digest(
        arrays
    ) != _SIGNAL_DIGEST:
        raise DatasetError(
            f"data set {_OPENML_ID} of OpenML is not the MiniBooNE data that this package knows: "
            f"{y.sum():,} of {len(y):,} rows are signals, and their SHA-256 is {_signal_digest(arrays)}. "
            f"{_MINIBOONE.advice}"
        )
    return arrays | {"feature_names": np.array([f"ParticleID_{k}" for k in range(X.shape[1])])}


def _signal_digest(arrays: Arrays) -> str:
    signals = np.ascontiguousarray(arrays["X"][arrays["y"] == 1], dtype="<f4")
    return hashlib.sha256(b"".join(sorted(map(bytes, signals)))).hexdigest()


_MINIBOONE = Loader(
    name="MiniBooNE",
    file="miniboone.npz",
    advice=(
        "Get MiniBooNE_PID.txt from UCI's data set 199 (the first 36,499 rows are signals), and write X "
        "(50 columns, float32) and y (1 for signals) to miniboone.npz with numpy.savez_compressed."
    ),
    fetch=_fetch,
)
_TINY = Loader(
    name="MiniBooNE (tiny)",
    file="miniboone_tiny.npz",
    advice="It has X, y and split (0 train, 1 validation, 2 test), and came with the code of the paper.",
)
