"""Reader of ranking data in svmlight format with qid, as in LETOR and Yahoo! LTR."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from budgetprune.datasets.dataset import Arrays
from budgetprune.datasets.files import damage


def read_letor(files: Mapping[int, Path]) -> Arrays:
    """Read the documents of all files, one split each.

    Parameters
    ----------
    files : mapping of int to Path
        `TRAIN`, `VALIDATION` or `TEST`, and the file that has its rows.

    Returns
    -------
    dict of ndarray
        `X` (with as many columns as the largest number of a feature), `y`, `qid` and `split`.
    """
    parts = []
    for split, file in files.items():
        with damage(file):
            X, y, qid = load_svmlight_file(str(file), dtype=np.float32, zero_based=False, query_id=True)
            if not np.array_equal(y, np.round(y)):
                raise ValueError("labels must be whole numbers")
            if len(qid) != len(y):
                raise ValueError("each document must have a qid")
            parts.append((split, X, y, qid))
    n_features = max(X.shape[1] for _, X, _, _ in parts)
    for _, X, _, _ in parts:
        X.resize(X.shape[0], n_features)
    return {
        "X": np.concatenate([X.toarray() for _, X, _, _ in parts]),
        "y": np.concatenate([y for _, _, y, _ in parts]).astype(np.int64),
        "qid": np.concatenate([qid for _, _, _, qid in parts]).astype(np.int64),
        "split": np.concatenate([np.full(len(y), split, np.int8) for split, _, y, _ in parts]),
    }
