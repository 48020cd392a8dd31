"""Yahoo! Learning to Rank, read from the user's files, as they may not be redistributed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import FeatureCosts
from budgetprune.datasets.dataset import TEST, TRAIN, VALIDATION, Arrays, Dataset, Folder, as_dataset
from budgetprune.datasets.files import VARIABLE, damage, folders
from budgetprune.datasets.letor import read_letor
from budgetprune.errors import DatasetError

N_FEATURES = 519
# All prices that occur, in units of CPU time.
YAHOO_PRICES = (1, 5, 20, 50, 100, 150, 200)

_FOLDER = "yahoo_ltr"
_COST_FILE = "yahoo_cs_cost.txt"
_FILES = {TRAIN: ("train",), VALIDATION: ("validation", "valid", "vali"), TEST: ("test",)}
_ADVICE = (
    "Yahoo! gives the data (C14B, set 1) to researchers who ask for it; put its train, validation and test "
    f"files (svmlight with qid, e.g. set1.train.txt) and the {N_FEATURES} prices, one per line in "
    f"{_COST_FILE}, into one folder."
)


def load_yahoo_ltr(folder: Folder | None = None) -> Dataset:
    """Load Yahoo! LTR, web search ranking with feature prices in CPU time.

    Labels are 0 (irrelevant) to 4. Features that are numbered up to 700, as in Yahoo!'s own files, are
    renumbered without gaps; `note` says so.

    Parameters
    ----------
    folder : path, optional
        Has ``train``, ``valid`` (may be left out) and ``test`` files, with names such as ``train.txt`` or
        ``set1.train.txt``, and ``yahoo_cs_cost.txt``. By default ``yahoo_ltr`` in the folder that
        BUDGETPRUNE_DATA names, or in scikit-learn's data home under ``budgetprune``.

    Returns
    -------
    Dataset
    """
    place = _find_folder() if folder is None else Path(folder).expanduser()
    if not place.is_dir():
        raise DatasetError(f"there is no folder {place}. {_ADVICE}")
    files = {split: _find(place, words) for split, words in _FILES.items()}
    present = {split: file for split, file in files.items() if file is not None}
    if TRAIN not in present or TEST not in present:
        raise DatasetError(f"{place} has no train file or no test file. {_ADVICE}")
    prices = _read_costs(place / _COST_FILE) if (place / _COST_FILE).is_file() else load_yahoo_costs(place)
    arrays = read_letor(present)
    note = _fit_columns(arrays, place)
    return as_dataset("Yahoo! LTR", arrays, FeatureCosts(prices), note)


def load_yahoo_costs(data_home: Folder | None = None, download: bool = True) -> NDArray[np.float64]:
    """Load the prices of the 519 features of Yahoo! LTR, in units of CPU time: all of `YAHOO_PRICES`.

    Parameters
    ----------
    data_home : path, optional
        Folder where data sets are kept; by default ``budgetprune`` in scikit-learn's data home.
    download : bool, default=True
        Ignored: the prices come with Yahoo!'s data.

    Returns
    -------
    ndarray of float64, shape (519,)
    """
    places = [folder / _COST_FILE for folder in folders(data_home)]
    for file in places:
        if file.is_file():
            return _read_costs(file)
    looked = " and ".join(str(file.parent) for file in places)
    raise DatasetError(f"{_COST_FILE} was not found; it was looked for in {looked}. {_ADVICE}")


def yahoo_folders(data_home: Folder | None = None) -> list[Path]:
    """List the folders that are searched for the files of Yahoo! LTR."""
    return [folder / _FOLDER for folder in folders(data_home)]


def _find_folder() -> Path:
    places = yahoo_folders()
    for place in places:
        if place.is_dir():
            return place
    raise DatasetError(
        f"Yahoo! LTR was not found; there is no folder {' and no folder '.join(map(str, places))}. {_ADVICE} "
        f"Name the folder, or let {VARIABLE} name the one that it is in as {_FOLDER}."
    )


def _find(folder: Path, words: tuple[str, ...]) -> Path | None:
    """Find the file of a split: train.txt or set1.train.txt; the challenge's set 2 is another data set."""
    for prefix in ("", "set1."):
        for word in words:
            for suffix in (".txt", ".txt.gz"):
                file = folder / f"{prefix}{word}{suffix}"
                if file.is_file():
                    return file
    return None


def _read_costs(file: Path) -> NDArray[np.float64]:
    with damage(file):
        prices: NDArray[np.float64] = np.loadtxt(file, ndmin=1)
        if prices.shape != (N_FEATURES,) or not np.all(np.isfinite(prices) & (prices >= 0)):
            raise ValueError(f"it must have {N_FEATURES} prices, one per line")
    return prices


def _fit_columns(arrays: Arrays, folder: Path) -> str:
    """Pad or select the columns of X to match the prices; return a note if they are renumbered."""
    X = arrays["X"]
    if X.shape[1] <= N_FEATURES:
        arrays["X"] = np.pad(X, ((0, 0), (0, N_FEATURES - X.shape[1])))
        return ""
    used = np.flatnonzero((X != 0).any(axis=0))
    if len(used) != N_FEATURES:
        raise DatasetError(
            f"the documents in {folder} have {len(used)} features that are not always 0, numbered up to "
            f"{X.shape[1]}; there are prices for {N_FEATURES}. {_ADVICE}"
        )
    arrays["X"] = X[:, used]
    return f"features renumbered: the {N_FEATURES} of {X.shape[1]} that are not always 0, in order"
