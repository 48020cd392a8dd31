"""One tree, in a form that the page can prune at any point of the path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.report.summary.pruned import NodeValue, SplitCondition, Tree

# Maximum number of nodes shown; of larger trees, only the upper levels are shown.
MOST_NODES = 500
MOST_CATEGORIES = 4


def choose_tree(path: PruningPath, delivered: Forest) -> int:
    """Choose a tree with an average number of remaining splits that fits on a screen."""
    if delivered.n_trees != path.forest.n_trees:
        return 0
    n_left = _splits_by_tree(delivered)
    n_nodes = np.diff(path.forest.tree_start)
    # Prefer trees that are partly pruned, then small ones, then typical ones.
    is_uniform = (n_left == 0) | (n_left == _splits_by_tree(path.forest))
    return int(np.lexsort((np.abs(n_left - n_left.mean()), n_nodes > MOST_NODES, is_uniform))[0])


def _splits_by_tree(forest: Forest) -> NDArray[np.int64]:
    return np.bincount(forest.tree_of_node[forest.is_split], minlength=forest.n_trees)


def show_tree(t: int, path: PruningPath, delivered: Forest) -> Tree:
    """Describe one tree of the unpruned forest and its counterpart in the delivered model."""
    forest = path.forest
    root, end = int(forest.tree_start[t]), int(forest.tree_start[t + 1])
    shown = _upper_levels(forest, root, end)
    place = {h: i for i, h in enumerate(shown)}
    twin = _twins(forest, root, delivered, t)
    critical = path.critical_lambda
    return Tree(
        number=t + 1,
        n_splits=int(forest.is_split[root:end].sum()),
        parent=tuple(place.get(int(forest.parent[h]), -1) for h in shown),
        split=tuple(split_of(forest, h) if int(forest.left[h]) in place else None for h in shown),
        value=tuple(value_of(forest, h) for h in shown),
        refitted=tuple(value_of(delivered, twin[h]) if h in twin else None for h in shown),
        critical_lambda=tuple(None if np.isinf(critical[h]) else float(critical[h]) for h in shown),
        is_delivered=tuple(bool(h in twin and delivered.is_split[twin[h]]) for h in shown),
    )


def n_splits_in(t: int, forest: Forest) -> int:
    """Return the number of splits of a tree."""
    return int(_splits_by_tree(forest)[t])


def n_splits_at(t: int, path: PruningPath, lam: float) -> int:
    """Return the number of splits of a tree that remain at a point of the path."""
    nodes = slice(int(path.forest.tree_start[t]), int(path.forest.tree_start[t + 1]))
    return int(np.count_nonzero(path.critical_lambda[nodes] > lam))


def _upper_levels(forest: Forest, root: int, end: int) -> list[int]:
    """Return the nodes of a tree in pre-order, down to the depth that fits MOST_NODES."""
    depth = forest.depth[root:end]
    n_above = np.cumsum(np.bincount(depth))
    deepest = max(int(np.searchsorted(n_above, MOST_NODES, side="right")) - 1, 1)
    return (root + np.flatnonzero(depth <= deepest)).tolist()


def _twins(forest: Forest, root: int, delivered: Forest, t: int) -> dict[int, int]:
    """Map nodes of a tree to the same nodes in a pruning of it."""
    twin: dict[int, int] = {}
    if t >= delivered.n_trees:
        return twin
    pending = [(root, int(delivered.tree_start[t]))]
    while pending:
        h, other = pending.pop()
        twin[h] = other
        if delivered.feature[other] >= 0:
            same = (
                forest.feature[h] == delivered.feature[other]
                and np.array_equal(forest.threshold[h], delivered.threshold[other], equal_nan=True)
                and forest.category_set[h] == delivered.category_set[other]
            )
            if not same:  # not a pruning of this tree
                return {}
            pending += [
                (int(forest.left[h]), int(delivered.left[other])),
                (int(forest.right[h]), int(delivered.right[other])),
            ]
    return twin


def split_of(forest: Forest, h: int) -> SplitCondition | None:
    """Return the condition of a split (true goes left); None at a leaf."""
    k = int(forest.feature[h])
    if k < 0:
        return None
    name = forest.names[k]
    known = None if forest.categories is None else forest.categories[k]
    if forest.category_set[h] < 0 and known is None:
        return SplitCondition(name, float(forest.threshold[h]), (), 0)
    inside = _category_codes(forest, h, len(known or ()))
    labels = [str(c) if known is None else str(known[c]) for c in inside]
    return SplitCondition(name, None, tuple(labels[:MOST_CATEGORIES]), max(len(labels) - MOST_CATEGORIES, 0))


def _category_codes(forest: Forest, h: int, n_known: int) -> list[int]:
    """Return the codes of the categories that go left."""
    s = int(forest.category_set[h])
    if s < 0:
        return [c for c in range(n_known) if c <= forest.threshold[h]]
    words = forest.category_bits[forest.category_start[s] : forest.category_start[s + 1]]
    return [c for c in range(32 * words.size) if words[c // 32] >> np.uint32(c % 32) & 1]


def value_of(forest: Forest, h: int) -> NodeValue:
    """Return the value of a node."""
    value, classes = forest.value[h], forest.classes
    output = int(forest.tree_output[forest.tree_of_node[h]])
    if classes is None:
        return NodeValue("target difference" if forest.is_boosted else "target", float(value[0]), "")
    if value.size == classes.size > 1:
        best = int(value.argmax())
        are_shares = forest.link == "identity" and value.min() >= 0 and abs(value.sum() - 1) < 1e-6
        return NodeValue("class share" if are_shares else "class", float(value[best]), str(classes[best]))
    # One score: for the second of two classes, or for the class of the tree.
    label = classes[max(output, 0) if classes.size > 2 else 1]
    return NodeValue("class score", float(value[0]), str(label))
