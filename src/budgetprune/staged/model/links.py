"""Links from scores to probabilities."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.model.objective import Outputs
from budgetprune.utils.special import expit, softmax

Link = Literal["logistic", "softmax", "shares", "identity"]
# Added to the share of each class, so that none is 0: half the share of one tree in a hundred.
LEAST_SHARE = 0.005


def link_of(forest: Forest) -> Link:
    """Return the link of a stage, given its trees: "shares" for classification trees without a link."""
    link: Any = "shares" if forest.link == "identity" and forest.classes is not None else forest.link
    return link  # type: ignore[no-any-return]


def log_shares(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the logarithms of smoothed shares."""
    found: NDArray[np.float64] = np.log(np.maximum(shares, 0.0) + LEAST_SHARE)
    return found


def probabilities(scores: NDArray[np.float64], link: Link) -> Outputs:
    """Convert scores, or logarithms of shares, to class probabilities."""
    if link == "logistic":
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
    found: Outputs = softmax(scores, axis=1)
    return found
