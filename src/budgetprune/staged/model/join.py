"""Join forests into one, and take parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import PER_NODE, Forest

# Arrays that contain indices of nodes.
_NODES = ("parent", "left", "right")


def join_forests(forests: Sequence[Forest]) -> Forest:
    """Join the trees of several forests; all other attributes are those of the first.

    Optional arrays per node are omitted unless all forests have them.
    """
    first = forests[0]
    if len(forests) == 1:
        return first
    n_nodes = np.cumsum([0, *(each.n_nodes for each in forests[:-1])])
    n_sets = np.cumsum([0, *(each.category_start.size - 1 for each in forests[:-1])])
    n_words = np.cumsum([0, *(each.category_bits.size for each in forests[:-1])])
    fields: dict[str, Any] = {}
    for name in PER_NODE:
        parts = [getattr(each, name) for each in forests]
        fields[name] = None if any(part is None for part in parts) else np.concatenate(parts)
    for name in _NODES:
        fields[name] = np.concatenate(
            [_shifted(getattr(each, name), first) for each, first in zip(forests, n_nodes, strict=True)]
        )
    fields["category_set"] = np.concatenate(
        [_shifted(each.category_set, first) for each, first in zip(forests, n_sets, strict=True)]
    )
    fields["category_start"] = np.append(
        np.concatenate(
            [each.category_start[:-1] + first for each, first in zip(forests, n_words, strict=True)]
        ),
        n_words[-1] + forests[-1].category_bits.size,
    )
    fields["category_bits"] = np.concatenate([each.category_bits for each in forests])
    fields["tree_start"] = np.append(
        np.concatenate([each.tree_start[:-1] + first for each, first in zip(forests, n_nodes, strict=True)]),
        n_nodes[-1] + forests[-1].n_nodes,
    )
    fields["tree_output"] = np.concatenate([each.tree_output for each in forests])
    fields["tree_round"] = _rounds(forests)
    return replace(first, **fields, origin=None)


def _shifted(numbers: Any, by: Any) -> Any:
    return np.where(numbers >= 0, numbers + by, -1)


def _rounds(forests: Sequence[Forest]) -> Any:
    """Renumber the rounds consecutively over all forests; None unless all forests have them."""
    rounds = [each.tree_round for each in forests if each.tree_round is not None]
    if len(rounds) < len(forests):
        return None
    later = np.cumsum([0, *(int(each.max()) + 1 for each in rounds[:-1])])
    return np.concatenate([a + b for a, b in zip(rounds, later, strict=True)])


def take_trees(forest: Forest, first: int, last: int, base: NDArray[np.float64] | None = None) -> Forest:
    """Return the trees from `first` to `last` (exclusive) as a forest.

    Parameters
    ----------
    forest : Forest
    first, last : int
    base : float64 array of shape (n_outputs,), optional
        Base of the new forest. None: the same.
    """
    start, stop = forest.tree_start[first], forest.tree_start[last]
    fields: dict[str, Any] = {}
    for name in PER_NODE:
        part = getattr(forest, name)
        fields[name] = None if part is None else part[start:stop]
    for name in _NODES:
        fields[name] = _shifted(fields[name], -start)
    fields |= _own_categories(forest, fields["category_set"])
    fields["tree_start"] = forest.tree_start[first : last + 1] - start
    fields["tree_output"] = forest.tree_output[first:last]
    if forest.tree_round is not None:
        part = forest.tree_round[first:last]
        fields["tree_round"] = part - part.min()
    if base is not None:
        fields["base"] = base.copy()
    # Names have been checked with the whole forest. To check millions of them again for each part takes long.
    part = replace(forest, **fields, origin=None, feature_names=None, categories=None)
    for name in ("feature_names", "categories"):
        object.__setattr__(part, name, getattr(forest, name))
    return part


def _own_categories(forest: Forest, category_set: Any) -> dict[str, Any]:
    """Renumber the used category sets from 0, and omit all others."""
    in_set = category_set >= 0
    used, number = np.unique(category_set[in_set], return_inverse=True)
    own = np.full_like(category_set, -1)
    own[in_set] = number
    first, end = forest.category_start[used], forest.category_start[used + 1]
    parts = [forest.category_bits[a:b] for a, b in zip(first.tolist(), end.tolist(), strict=True)]
    return {
        "category_set": own,
        "category_start": np.append(0, np.cumsum(end - first)),
        "category_bits": np.concatenate([np.zeros(0, dtype=np.uint32), *parts]),
    }
