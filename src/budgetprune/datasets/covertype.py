"""Forest Covertype data set."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import fetch_covtype

from budgetprune.datasets.dataset import Arrays, Dataset, Folder, as_dataset
from budgetprune.datasets.loader import Loader

_NAMES = (
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area{k}" for k in range(1, 5)),
    *(f"Soil_Type{k}" for k in range(1, 41)),
)


def load_covertype(data_home: Folder | None = None, download: bool = True) -> Dataset:
    """Load Forest Covertype: classification of forest types from cartographic features.

    581,012 rows, 54 features, 7 classes (1 to 7), no prices. The paper uses 36,603 rows to train, 15,688 to
    validate and 58,101 to test.

    Parameters
    ----------
    data_home : path, optional
        Folder where data sets are kept; by default ``budgetprune`` in scikit-learn's data home.
    download : bool, default=True
        Whether to download with `sklearn.datasets.fetch_covtype` if no file is found.

    Returns
    -------
    Dataset
    """
    return as_dataset("Covertype", _COVERTYPE.load(data_home, download))


def _fetch(data_home: Folder | None) -> Arrays:
    X, y = fetch_covtype(data_home=data_home, return_X_y=True)
    return {"X": X.astype(np.float32), "y": y.astype(np.int64), "feature_names": np.array(_NAMES)}


_COVERTYPE = Loader(
    name="Covertype",
    file="covtype.npz",
    advice="On a machine that is online, load_covertype() makes the file.",
    fetch=_fetch,
    digest="672e1266002c95cfc3de2b452dee2a75e71e9f2feb90bc0caafc5dd16f3217dd",
)
