"""Export of a tree to scikit-learn's histogram-based gradient boosting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.adapters.sklearn.hist_categories import swapped
from budgetprune.forest.adapters.sklearn.layout import hist_node_table

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

# Leaves have these zero; only splits use them.
_OF_SPLITS = (
    "feature_idx",
    "num_threshold",
    "missing_go_to_left",
    "bin_threshold",
    "is_categorical",
    "bitset_idx",
)
_NO_GAIN = -1.0


def pruned_predictor(
    forest: Forest, t: int, predictor: Any, value: NDArray[np.float64], learning_rate: float
) -> Any:
    """Copy of scikit-learn's `predictor` that holds the nodes of the forest's tree `t`, in its order.

    Parameters
    ----------
    value : value of each node of the forest
    learning_rate : factor that scikit-learn's values contain at leaves but not at splits
    """
    nodes = slice(forest.tree_start[t], forest.tree_start[t + 1])
    is_split = forest.is_split[nodes]
    own = value[nodes, 0]

    table = hist_node_table(predictor)[forest.origin_node[nodes]]
    left, right = (number[nodes] - nodes.start for number in (forest.left, forest.right))
    is_swapped = swapped(table)
    table["left"] = np.where(is_split, np.where(is_swapped, right, left), 0)
    table["right"] = np.where(is_split, np.where(is_swapped, left, right), 0)
    for name in _OF_SPLITS:
        table[name][~is_split] = 0
    table["is_leaf"] = ~is_split
    table["gain"][~is_split] = _NO_GAIN
    old = table["value"]
    shrunken = learning_rate * old
    table["value"] = np.where(is_split, np.where(shrunken == own, old, own / learning_rate), own)
    # Sets of categories keep their numbers; some may be unused.
    return type(predictor)(
        table, predictor.binned_left_cat_bitsets.copy(), predictor.raw_left_cat_bitsets.copy()
    )
