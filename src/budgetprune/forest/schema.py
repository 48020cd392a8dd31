"""Types, shapes and ranges of the fields of a `Forest`."""

from __future__ import annotations

from typing import Any

import numpy as np

# Type of each array; None: any.
ARRAYS: dict[str, Any] = {
    "tree_start": np.int64,
    "parent": np.int32,
    "left": np.int32,
    "right": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.bool_,
    "category_set": np.int32,
    "category_start": np.int64,
    "category_bits": np.uint32,
    "value": np.float64,
    "weight": np.float64,
    "class_weight": np.float64,
    "variance": np.float64,
    "tree_output": np.int32,
    "base": np.float64,
    "classes": None,
    "origin_node": np.int32,
    "tree_round": np.int32,
    "split_gain": np.float64,
}

OPTIONAL = ("class_weight", "variance", "classes", "tree_round", "split_gain")
TWO_DIMENSIONAL = ("value", "class_weight")
# Far beyond all models, but safe in predictions: outputs are summed over trees, divided, and scaled to
# integers by powers of two. Where they are squared, overflow is checked.
LARGEST_SUM, LARGEST_WEIGHT = 1e304, 1e100
DIVISORS = (1e-3, 1e12)  # it is the number of trees, or 1
_ANY = float(np.finfo(np.float64).max)
RANGES: dict[str, tuple[float, float]] = {
    "value": (-LARGEST_SUM, LARGEST_SUM),
    "base": (-LARGEST_SUM, LARGEST_SUM),
    "weight": (0.0, LARGEST_WEIGHT),
    "class_weight": (0.0, LARGEST_WEIGHT),
    "variance": (-_ANY, _ANY),
    "split_gain": (-_ANY, _ANY),
}
PER_NODE = (
    "parent",
    "left",
    "right",
    "feature",
    "threshold",
    "missing_left",
    "category_set",
    "value",
    "weight",
    "class_weight",
    "variance",
    "origin_node",
    "split_gain",
)

# Label rules of each link, as importers and refits create them.
LABEL_RULES = {
    "identity": ("argmax", "nonnegative"),
    "softmax": ("argmax", "nonnegative", "likeliest"),
    "exp": ("argmax",),
    "logistic": ("positive", "nonnegative", "likeliest"),
}
MISSING = ("forbidden", "nan", "nan-or-zero")
INPUT_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))

# Rows are dense: more features exceed 80 MB per row. A small file that claims more is damaged or hostile.
MOST_FEATURES = 10_000_000
