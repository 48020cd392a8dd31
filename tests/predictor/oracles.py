"""What a forest answers and what it may still answer, in plain Python: slow, obvious, and independent."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from budgetprune import BudgetPredictor, Forest
from budgetprune.costs import CostTable

from .forests import GRID


def goes_left(forest: Forest, h: int, x: float) -> bool:
    if np.isnan(x) or (forest.missing == "nan-or-zero" and forest.category_set[h] < 0 and x == 0):
        return bool(forest.missing_left[h])
    s = forest.category_set[h]
    if s < 0:
        return bool(x <= forest.threshold[h])
    words = forest.category_bits[forest.category_start[s] : forest.category_start[s + 1]]
    return int(x) < 32 * words.size and bool(int(words[int(x) // 32]) >> (int(x) % 32) & 1)


def child(forest: Forest, h: int, x: float) -> int:
    return int(forest.left[h] if goes_left(forest, h, x) else forest.right[h])


def stand(forest: Forest, h: int, row: np.ndarray, known: np.ndarray) -> int:
    """Where a tree is if it starts from node h and knows these features."""
    while forest.feature[h] >= 0 and known[forest.feature[h]]:
        h = child(forest, h, row[forest.feature[h]])
    return h


# --- The plain answer ---------------------------------------------------------------------------------------


def plain_scores(forest: Forest, row: np.ndarray) -> np.ndarray:
    """The sum in tree order."""
    total, everything = forest.base.copy(), np.ones(forest.n_features, bool)
    for t in range(forest.n_trees):
        h = stand(forest, int(forest.tree_start[t]), row, everything)
        if forest.tree_output[t] < 0:
            total += forest.value[h]
        else:
            total[forest.tree_output[t]] += forest.value[h, 0]
    return total / forest.divisor


def plain_probabilities(forest: Forest, row: np.ndarray) -> np.ndarray:
    """Of all classes; of a regression, the target."""
    scores = plain_scores(forest, row)
    if forest.link == "exp":
        return np.exp(scores)
    if forest.link == "logistic":
        return np.append(expit(-scores), expit(scores))
    return softmax(scores) if forest.link == "softmax" else scores


def plain_label(forest: Forest, row: np.ndarray, threshold: float | None = None) -> Any:
    scores = plain_scores(forest, row)
    if forest.classes is None:
        return plain_probabilities(forest, row)[0]
    if threshold is not None:
        return forest.classes[int(plain_probabilities(forest, row)[1] >= threshold)]
    if forest.label_rule == "argmax":
        return forest.classes[list(scores).index(max(scores))]
    if forest.n_outputs == 2:
        return forest.classes[int(scores[1] >= scores[0])]
    return forest.classes[int(scores[0] > 0 if forest.label_rule == "positive" else scores[0] >= 0)]


def sources_needed(forest: Forest, costs: CostTable, row: np.ndarray) -> set[str]:
    """Every source with a price on the paths of a row through all trees: what the full cost counts."""
    needed: set[str] = set()
    for root in forest.tree_start[:-1]:
        h = int(root)
        while forest.feature[h] >= 0:
            needed |= {s for s in sources_of(costs, forest.feature[h]) if price_of(costs, s) > 0}
            h = child(forest, h, row[forest.feature[h]])
    return needed


def sources_of(costs: CostTable, k: int) -> list[str]:
    return [costs.source_names[s] for s in costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]]


def price_of(costs: CostTable, source: str) -> float:
    return float(costs.price[costs.source_names.index(source)])


def full_cost(forest: Forest, costs: CostTable, row: np.ndarray) -> float:
    return sum(price_of(costs, source) for source in sources_needed(forest, costs, row))


# --- What is still possible ---------------------------------------------------------------------------------


def completions(forest: Forest, row: np.ndarray, known: np.ndarray, at_most: int) -> np.ndarray:
    """All ways to fill in what is not known, as far as any split can tell; if too many, a random choice."""
    used = np.isin(np.arange(forest.n_features), forest.feature)
    unknown = np.flatnonzero(~known & used)
    options = []
    for k in unknown:
        by_number = forest.categories is None or forest.categories[k] is None
        # Between any two thresholds, and at each of them: both are on this grid.
        values = list(np.arange(-1, GRID, 0.5)) if by_number else list(range(GRID))
        options.append(values + ([np.nan] if forest.missing != "forbidden" else []))
    rng = np.random.default_rng(0)
    if np.prod([float(len(values)) for values in options]) > at_most:
        chosen = np.column_stack([rng.choice(values, at_most) for values in options])
    else:
        ways = list(product(*options))
        chosen = np.array(ways).reshape(len(ways), unknown.size)
    rows = np.tile(row, (len(chosen), 1))
    rows[:, unknown] = chosen
    return rows


# --- Which source next? -------------------------------------------------------------------------------------


def window(forest: Forest, h: int, row: np.ndarray, known: np.ndarray, depth: int) -> tuple[dict, set[int]]:
    """Splits on unknown features below h with the probability to meet them, and the nodes that bound h."""
    h = stand(forest, h, row, known)
    if forest.feature[h] < 0:
        return {}, {h}
    if depth == 0:
        return {h: 1.0}, {h}
    left, right = int(forest.left[h]), int(forest.right[h])
    share = (forest.weight[left] + 1) / (forest.weight[left] + forest.weight[right] + 2)
    met, ends = {h: 1.0}, set()
    for below, probability in ((left, share), (right, 1 - share)):
        splits, nodes = window(forest, below, row, known, depth - 1)
        met |= {split: probability * p for split, p in splits.items()}
        ends |= nodes
    return met, ends


def leaves_below(forest: Forest, h: int) -> list[int]:
    if forest.feature[h] < 0:
        return [h]
    return leaves_below(forest, int(forest.left[h])) + leaves_below(forest, int(forest.right[h]))


def directions(forest: Forest, threshold: float | None) -> np.ndarray:
    """What has to be bounded: a lead where two classes have a score each, else the scores themselves."""
    if forest.n_outputs == 2 and forest.classes is not None:
        lead = [0.0, 1.0] if threshold is not None and forest.link == "identity" else [-1.0, 1.0]
        return np.array([lead])
    return np.eye(forest.n_outputs)


def at_stake(forest: Forest, t: int, ends: set[int], threshold: float | None) -> float:
    """How much the answers that tree t can still give differ, over all directions that it feeds."""
    leaves = sorted({leaf for end in ends for leaf in leaves_below(forest, end)})
    answers = np.zeros((len(leaves), forest.n_outputs))
    if forest.tree_output[t] < 0:
        answers[:] = forest.value[leaves]
    else:
        answers[:, forest.tree_output[t]] = forest.value[leaves, 0]
    return float(np.ptp(answers @ directions(forest, threshold).T, axis=0).sum())


def ratings(
    predictor: BudgetPredictor, row: np.ndarray, known: np.ndarray, acquired: set[str], money: float = np.inf
) -> dict[int, tuple[float, float, str]]:
    """Gain, price and first source of each feature that some tree stands at and that can be paid for."""
    forest, costs = predictor.forest, predictor.costs
    need, awaited = np.zeros(forest.n_features), set()
    for t in range(forest.n_trees):
        met, ends = window(forest, int(forest.tree_start[t]), row, known, predictor.look_ahead)
        if met:
            stake = 1.0 if predictor.order == "waiting" else at_stake(forest, t, ends, predictor.threshold)
            awaited.add(int(forest.feature[min(met)]))
            if predictor.order != "look-ahead":
                met = {min(met): 1.0}
            for split, probability in met.items():
                need[forest.feature[split]] += stake * probability
    n_features_of = {s: len(predictor.features_of(s)) for s in costs.source_names}
    missing = {k: set(sources_of(costs, k)) - acquired for k in range(forest.n_features)}
    found = {}
    for k in sorted(awaited):
        price = sum(price_of(costs, s) for s in missing[k])
        gain = sum(need[j] for j in range(forest.n_features) if missing[j] and missing[j] <= missing[k])
        if price <= money * (1 + 1e-12):
            first = min(missing[k], key=lambda s: (-n_features_of[s], costs.source_names.index(s)))
            found[k] = (gain, price, first)
    return found
