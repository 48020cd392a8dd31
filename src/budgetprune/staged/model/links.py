"""Links from scores to probabilities."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from budgetprune.forest import Forest
from budgetprune.staged.model.objective import Outputs

Link = Literal["logistic", "softmax", "shares", "identity"]
# Is added to the share of each class, so that none is impossible: half of a tree of a hundred.
LEAST_SHARE = 0.005


def link_of(forest: Forest) -> Link:
    """Return the link of stages with such trees; forests whose trees answer with shares have none."""
    link: Any = "shares" if forest.link == "identity" and forest.classes is not None else forest.link
    return link  # type: ignore[no-any-return]


def log_shares(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute logarithms of shares, which are kept away from 0."""
    found: NDArray[np.float64] = np.log(np.maximum(shares, 0.0) + LEAST_SHARE)
    return found


def probabilities(scores: NDArray[np.float64], link: Link) -> Outputs:
    """Turn scores, or logarithms of shares, into probabilities of classes."""
    if link == "logistic":
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
    found: Outputs = softmax(scores, axis=1)
    return found
