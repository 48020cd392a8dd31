"""Medical data sets with published test prices: thyroid disease and heart disease."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from budgetprune.datasets.dataset import TEST, TRAIN, Arrays, Dataset, Folder, as_dataset
from budgetprune.datasets.loader import Loader, UciFiles
from budgetprune.datasets.prices import Price, published_costs
from budgetprune.errors import DatasetError

# Prices of 1995 in Canadian dollars, donated by P. Turney to the UCI repository: price of a test alone,
# price with others of its group, and the group.
_QUESTIONS = (
    *("age", "sex", "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication", "sick", "pregnant"),
    *("thyroid_surgery", "I131_treatment", "query_hypothyroid", "query_hyperthyroid", "lithium", "goitre"),
    *("tumor", "hypopituitary", "psych"),
)
_THYROID_PRICES = dict.fromkeys(_QUESTIONS, Price(1.0, 1.0)) | {
    "TSH": Price(22.78, 20.68, "blood"),
    "T3": Price(11.41, 9.31, "blood"),
    "TT4": Price(14.51, 12.41, "blood"),
    "T4U": Price(11.41, 9.31, "blood"),
    "FTI": Price(25.92, 0.0, "blood"),
}
_HEART_PRICES = dict.fromkeys(("age", "sex", "cp", "trestbps"), Price(1.0, 1.0)) | {
    "chol": Price(7.27, 5.17, "blood"),
    "fbs": Price(5.2, 3.1, "blood"),
    "restecg": Price(15.5, 15.5),
    "thalach": Price(102.9, 1.0, "B"),
    "exang": Price(87.3, 1.0, "C"),
    "oldpeak": Price(87.3, 1.0, "C"),
    "slope": Price(87.3, 1.0, "C"),
    "ca": Price(100.9, 100.9),
    "thal": Price(102.9, 1.0, "B"),
}
# The free T4 index is computed from two other tests and needs only these.
_DERIVED = {"FTI": ("TT4", "T4U")}
_GROUP_NAMES = {"blood": "blood draw", "B": "thallium stress test", "C": "exercise ECG"}
_NO_GROUP = ("none", "")  # value in `groups` of a test without a group

_DOLLARS = "prices in Canadian dollars of 1995"


def load_thyroid(data_home: Folder | None = None, download: bool = True) -> Dataset:
    """Load thyroid disease: diagnosis from questions and blood tests, with prices.

    7,200 patients (3,772 to train, 3,428 to test), 16 questions and 5 blood values, 3 classes: 1 and 2 are
    ill (166 and 368 patients), 3 is not. The first blood test also pays for the blood draw. The free T4 index
    (``FTI``) is computed from ``TT4`` and ``T4U``, and needs no more than these.

    Parameters
    ----------
    data_home : path, optional
        Folder where data sets are kept; by default ``budgetprune`` in scikit-learn's data home.
    download : bool, default=True
        Whether to download from the UCI repository if no file is found.

    Returns
    -------
    Dataset
    """
    arrays = _THYROID.load(data_home, download)
    return _with_prices("thyroid", arrays, _THYROID_PRICES, _DOLLARS)


def load_heart(data_home: Folder | None = None, download: bool = True) -> Dataset:
    """Load heart disease: diagnosis from questions, blood tests and exercise tests, with prices.

    297 patients of Cleveland without missing values, 13 features. Labels are 0 (healthy) to 4. Tests that are
    read off one procedure share its price: a blood draw, an exercise ECG, a thallium stress test.

    Parameters
    ----------
    data_home : path, optional
        Folder where data sets are kept; by default ``budgetprune`` in scikit-learn's data home.
    download : bool, default=True
        Whether to download from the UCI repository if no file is found.

    Returns
    -------
    Dataset
    """
    arrays = _HEART.load(data_home, download)
    return _with_prices(
        "heart", arrays, _HEART_PRICES, f"{_DOLLARS}; the 297 patients without missing values"
    )


# --- Prices -------------------------------------------------------------------------------------------------


def _with_prices(name: str, arrays: Arrays, published: Mapping[str, Price], note: str) -> Dataset:
    names = as_dataset(name, arrays).feature_names
    prices = _prices_in(arrays, names)
    if prices is None:
        unpriced = [repr(feature) for feature in names if feature not in published]
        if unpriced:
            raise DatasetError(f"there are no published prices for {', '.join(unpriced)} of the {name} data.")
        prices = {feature: published[feature] for feature in names}
    derived = {feature: parts for feature, parts in _DERIVED.items() if feature in prices}
    costs = published_costs(prices, derived=derived, group_names=_GROUP_NAMES)
    return as_dataset(name, arrays, costs, note)


def _prices_in(arrays: Arrays, names: tuple[str, ...]) -> dict[str, Price] | None:
    """Prices stored in a data file."""
    if not all(key in arrays for key in ("costs", "discount_costs", "groups")):
        return None
    groups = [None if group in _NO_GROUP else group for group in arrays["groups"].tolist()]
    entries = zip(names, arrays["costs"].tolist(), arrays["discount_costs"].tolist(), groups, strict=True)
    return {name: Price(alone, together, group) for name, alone, together, group in entries}


# --- Files of the UCI repository ----------------------------------------------------------------------------


def _parse_thyroid(train: bytes, test: bytes) -> Arrays:
    tables = [np.loadtxt(BytesIO(content), ndmin=2) for content in (train, test)]
    arrays = _rows_and_labels(np.concatenate(tables), tuple(_THYROID_PRICES))
    return arrays | {
        "split": np.repeat(np.array([TRAIN, TEST], dtype=np.int8), [len(table) for table in tables])
    }


def _parse_heart(content: bytes) -> Arrays:
    table = np.loadtxt(BytesIO(content.replace(b"?", b"nan")), delimiter=",", ndmin=2)
    return _rows_and_labels(table[~np.isnan(table).any(axis=1)], tuple(_HEART_PRICES))


def _rows_and_labels(table: NDArray[np.float64], names: tuple[str, ...]) -> Arrays:
    if table.shape[1] != len(names) + 1:
        raise ValueError(f"{table.shape[1]} columns instead of {len(names)} features and a label")
    return {
        "X": table[:, :-1].astype(np.float32),
        "y": table[:, -1].astype(np.int64),
        "feature_names": np.array(names),
    }


_THYROID_FILES = UciFiles("thyroid-disease", ("ann-train.data", "ann-test.data"), _parse_thyroid)
_HEART_FILES = UciFiles("heart-disease", ("processed.cleveland.data",), _parse_heart)
_THYROID = Loader(
    name="thyroid",
    file="ann_thyroid.npz",
    advice=_THYROID_FILES.advice,
    originals=_THYROID_FILES.read,
    fetch=_THYROID_FILES.fetch,
    digest="48029e5bc2d165a4f2a8b55f989c4a007de04c55260f9ed0f3896fe674de3af4",
)
_HEART = Loader(
    name="heart",
    file="heart_cleveland.npz",
    advice=_HEART_FILES.advice,
    originals=_HEART_FILES.read,
    fetch=_HEART_FILES.fetch,
    digest="66999ae1b79922b1dead9f17fd5bf0dd8050e667e396f26638689548aad47189",
)
