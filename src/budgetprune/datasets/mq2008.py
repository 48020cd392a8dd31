"""LETOR MQ2008 ranking data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from budgetprune.datasets.dataset import TEST, TRAIN, VALIDATION, Arrays, Dataset, Folder, as_dataset
from budgetprune.datasets.letor import read_letor
from budgetprune.datasets.loader import Loader
from budgetprune.errors import DatasetError

_KINDS = ("TF", "IDF", "TFIDF", "DL", "BM25", "LMIR.ABS", "LMIR.DIR", "LMIR.JM")
_FIELDS = ("body", "anchor", "title", "url", "whole")
_NAMES = (
    *(f"{kind}_{field}" for kind in _KINDS for field in _FIELDS),
    *("PageRank", "inlinks", "outlinks", "url_slashes", "url_length", "child_pages"),
)
_FOLDS = ("MQ2008/Fold1", "Fold1", ".")  # where fold 1 may be in a folder
_FILES = {TRAIN: "train.txt", VALIDATION: "vali.txt", TEST: "test.txt"}


def load_mq2008(data_home: Folder | None = None, download: bool = True) -> Dataset:
    """Load LETOR MQ2008, web search ranking: 46 features, relevance 0 to 2, no prices.

    Reads ``mq2008.npz``, or the original files of fold 1 of LETOR 4.0: ``train.txt``, ``vali.txt`` (may be
    left out) and ``test.txt``, in the folder itself, in ``Fold1`` or in ``MQ2008/Fold1``.

    Parameters
    ----------
    data_home : path, optional
        Folder where data sets are kept, by default ``budgetprune`` in scikit-learn's data home; or one text
        file in LETOR's format, whose rows are not split.
    download : bool, default=True
        Ignored: LETOR has to be downloaded by hand.

    Returns
    -------
    Dataset
    """
    arrays = _MQ2008.load(data_home, download)
    has_validation = "split" in arrays and bool((arrays["split"] == VALIDATION).any())
    note = "" if has_validation or "split" not in arrays else "without the rows for validation"
    return as_dataset("MQ2008", arrays, note=note)


def _read(place: Path) -> Arrays | None:
    if place.is_file():
        arrays = _named(read_letor({TRAIN: place}), place)
        del arrays["split"]
        return arrays
    for fold in _FOLDS:
        files = {split: place / fold / name for split, name in _FILES.items()}
        if files[TRAIN].is_file() and files[TEST].is_file():
            found = {split: file for split, file in files.items() if file.is_file()}
            return _named(read_letor(found), place / fold)
    return None


def _named(arrays: Arrays, where: Path) -> Arrays:
    if arrays["X"].shape[1] != len(_NAMES):
        raise DatasetError(
            f"{where} does not hold MQ2008: documents have {arrays['X'].shape[1]} features instead of "
            f"{len(_NAMES)}."
        )
    return arrays | {"feature_names": np.array(_NAMES)}


_MQ2008 = Loader(
    name="MQ2008",
    file="mq2008.npz",
    advice="Get MQ2008 of LETOR 4.0 from Microsoft Research, and unpack its folder MQ2008 with Fold1 in it.",
    originals=_read,
)
