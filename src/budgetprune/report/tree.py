"""One tree, in a form that the page can prune at any point of the path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.report.measure import Kind
from budgetprune.report.numbers import amount, several
from budgetprune.report.stories import value_text
from budgetprune.report.summary import Tree

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
    is_dull = (n_left == 0) | (n_left == _splits_by_tree(path.forest))
    return int(np.lexsort((np.abs(n_left - n_left.mean()), n_nodes > MOST_NODES, is_dull))[0])


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
        question=tuple(question(forest, h) if int(forest.left[h]) in place else "" for h in shown),
        answer=tuple(answer(forest, h) for h in shown),
        refitted=tuple(answer(delivered, twin[h]) if h in twin else "" for h in shown),
        critical_lambda=tuple(None if np.isinf(critical[h]) else float(critical[h]) for h in shown),
        is_delivered=tuple(bool(h in twin and delivered.is_split[twin[h]]) for h in shown),
    )


def tree_words(t: int, path: PruningPath, delivered: Forest, kind: Kind, lam: float) -> str:
    """Describe how much of one tree remains at a point."""
    nodes = slice(int(path.forest.tree_start[t]), int(path.forest.tree_start[t + 1]))
    n_splits = int(path.forest.is_split[nodes].sum())
    if kind == "unpruned":
        return f"Tree {t + 1} as it was grown, with {several(n_splits, 'split')}."
    if kind == "delivered":
        n_left = int(_splits_by_tree(delivered)[t])
    else:
        n_left = int(np.count_nonzero(path.critical_lambda[nodes] > lam))
    return (
        f"{n_left:,} of the {several(n_splits, 'split')} of tree {t + 1} "
        f"{'is' if n_left == 1 else 'are'} left."
    )


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
    waiting = [(root, int(delivered.tree_start[t]))]
    while waiting:
        h, other = waiting.pop()
        twin[h] = other
        if delivered.feature[other] >= 0:
            same = (
                forest.feature[h] == delivered.feature[other]
                and np.array_equal(forest.threshold[h], delivered.threshold[other], equal_nan=True)
                and forest.category_set[h] == delivered.category_set[other]
            )
            if not same:  # not a pruning of this tree
                return {}
            waiting += [
                (int(forest.left[h]), int(delivered.left[other])),
                (int(forest.right[h]), int(delivered.right[other])),
            ]
    return twin


def question(forest: Forest, h: int) -> str:
    """Return the condition of a split (true goes left); empty at a leaf."""
    k = int(forest.feature[h])
    if k < 0:
        return ""
    name = forest.names[k]
    known = None if forest.categories is None else forest.categories[k]
    if forest.category_set[h] < 0 and known is None:
        return f"{name} ≤ {forest.threshold[h]:.4g}"
    inside = _category_numbers(forest, h, len(known or ()))
    labels = [value_text(c) if known is None else str(known[c]) for c in inside]
    more = f" or {len(labels) - MOST_CATEGORIES} more" if len(labels) > MOST_CATEGORIES else ""
    return f"{name} is {' or '.join(labels[:MOST_CATEGORIES]) or 'missing'}{more}"


def _category_numbers(forest: Forest, h: int, n_known: int) -> list[int]:
    """Return the codes of the categories that go left."""
    s = int(forest.category_set[h])
    if s < 0:
        return [c for c in range(n_known) if c <= forest.threshold[h]]
    words = forest.category_bits[forest.category_start[s] : forest.category_start[s + 1]]
    return [c for c in range(32 * words.size) if words[c // 32] >> np.uint32(c % 32) & 1]


def answer(forest: Forest, h: int) -> str:
    """Format the value of a node."""
    value, classes = forest.value[h], forest.classes
    output = int(forest.tree_output[forest.tree_of_node[h]])
    if classes is None:
        return f"{value[0]:+.3g}" if forest.is_boosted else amount(float(value[0]))
    if value.size == classes.size > 1:
        best = int(value.argmax())
        are_shares = forest.link == "identity" and value.min() >= 0 and abs(value.sum() - 1) < 1e-6
        return f"{classes[best]} {value[best]:.0%}" if are_shares else f"more for {classes[best]}"
    # One score: for the second of two classes, or for the class of the tree.
    return f"{value[0]:+.2g} for {classes[max(output, 0) if classes.size > 2 else 1]}"
