"""Staged models with random prices, needs, trees and missing sources, against slow and obvious twins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetprune import FeatureCosts, StagedPredictor
from budgetprune.staged.model.chain import Chain, Stage
from budgetprune.staged.model.objective import ErrorCostObjective, LogLossObjective
from budgetprune.staged.model.staged_model import StagedModel

from ...golden.staged_models import boosted, curve

CLASSES = np.array(["no", "yes"])
VALUES = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, math.nan])
PRICES = st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.5])


@dataclass(frozen=True)
class Case:
    """A model, and what it was made of: trees as nested tuples (`tests.golden.planting`)."""

    predictor: StagedPredictor
    price: dict[str, float]
    needs: list[list[str]]
    stages: list[list[str]]
    trees: list[list[Any]]
    scale: list[float]
    decay: float
    thresholds: list[float]


@st.composite
def cases(draw) -> Case:
    n_sources, n_features = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    price = {f"s{s}": draw(PRICES) for s in range(n_sources)}
    needs = [draw(st.lists(st.sampled_from(list(price)), unique=True, max_size=2)) for _ in range(n_features)]
    paid = draw(st.permutations([name for name, each in price.items() if each > 0]))
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(paid) - 1)))))
    groups = [list(paid[a:b]) for a, b in zip([0, *cuts], [*cuts, len(paid)], strict=True)]
    stages = [[], *(group for group in groups if group)]
    if draw(st.booleans()):
        stages.append([])  # a stage that costs nothing
    offered = {name for name, each in price.items() if each == 0}
    has = set(offered)
    trees: list[list[Any]] = []
    for k, stage in enumerate(stages):
        offered |= set(stage)
        known = [f for f, each in enumerate(needs) if set(each) <= offered]
        trees.append([draw(_trees(known, 2)) for _ in range(draw(st.integers(1, 3)))])
        # Stages buy what their trees test, and nothing else.
        wanted = {name for tree in trees[-1] for f in features_in(tree) for name in needs[f]}
        stages[k] = sorted(wanted - has)
        has |= wanted
    n = len(stages)
    scale = [draw(st.sampled_from([0.5, 1.0, 2.0])) for _ in range(n)]
    decay = draw(st.sampled_from([0.0, 0.5, 1.0]))
    levels = st.sampled_from([-math.inf, 0.05, 0.2, 0.35, 0.45, math.inf])
    thresholds = [*(draw(levels) for _ in range(n - 1)), math.inf]
    costs = FeatureCosts.from_sources(price, {k: each or None for k, each in enumerate(needs)})
    table = costs.resolve(n_features)
    plain = {"classes": CLASSES, "n_features": n_features, "feature_names": None, "categories": None}
    number = {name: s for s, name in enumerate(table.source_names)}
    made = tuple(
        Stage(
            tuple(number[name] for name in stages[k]),
            boosted(trees[k], [0] * len(trees[k]), [0.0], "logistic", **plain),
            scale[k],
        )
        for k in range(n)
    )
    points = curve([0.0, 1.0], [0, 0], [[math.inf] * n, thresholds] if n > 1 else [[math.inf]] * 2)
    objective = draw(st.sampled_from([ErrorCostObjective(1 - np.eye(2)), LogLossObjective()]))
    chain = Chain(made, decay, "logistic")
    answer = ErrorCostObjective(1 - np.eye(2))
    model = StagedModel((chain,), points, 1, 1, objective, table, CLASSES, answer)
    return Case(StagedPredictor(model), price, needs, stages, trees, scale, decay, thresholds)


def _trees(known: list[int], depth: int) -> st.SearchStrategy[Any]:
    leaf = st.sampled_from([-2.0, -1.0, -0.25, 0.5, 1.5]).map(lambda value: [value])
    if not known or not depth:
        return leaf
    below = _trees(known, depth - 1)
    split = st.tuples(st.sampled_from(known), st.sampled_from([-1.0, 0.0, 0.75]), st.booleans(), below, below)
    return leaf | split


def features_in(tree) -> set[int]:
    return set() if isinstance(tree, list) else {tree[0]} | features_in(tree[3]) | features_in(tree[4])


# --- Twins --------------------------------------------------------------------------------------------------


def answers(tree, row, known) -> list[tuple[float, float]]:
    """Leaves that a row may reach, with their probabilities: unknown features divide it as in training."""
    if isinstance(tree, list):
        return [(1.0, tree[0])]
    feature, threshold, missing_left, left, right = tree
    if feature in known:
        goes_left = missing_left if math.isnan(row[feature]) else row[feature] <= threshold
        return answers(left if goes_left else right, row, known)
    # Each leaf has a weight of 2, and no side is impossible.
    on_left, on_right = 2 * n_leaves(left) + 1, 2 * n_leaves(right) + 1
    share = on_left / (on_left + on_right)
    sides = [(share, left), (1 - share, right)]
    return [(part * p, value) for part, side in sides for p, value in answers(side, row, known)]


def n_leaves(tree) -> int:
    return 1 if isinstance(tree, list) else n_leaves(tree[3]) + n_leaves(tree[4])


def probability(case: Case, row, known, stage: int) -> float:
    """Probability of "yes" at a stage if some features are unknown."""
    mean = deviation = 0.0
    for k in range(stage + 1):
        mean, deviation = case.decay * mean, case.decay * deviation
        for tree in case.trees[k]:
            leaves = answers(tree, row, known)
            own = sum(p * value for p, value in leaves)
            mean += own
            deviation += math.sqrt(max(sum(p * value**2 for p, value in leaves) - own**2, 0.0))
    scale = case.scale[stage]
    return 1 / (1 + math.exp(-scale * mean / math.sqrt(1 + math.pi / 8 * (scale * deviation) ** 2)))


def uncertainty(case: Case, p: float) -> float:
    if isinstance(case.predictor.model.objective, ErrorCostObjective):
        return min(p, 1 - p)
    return -sum(q * math.log(q) for q in (p, 1 - p))


def followed(case: Case, row, lacking: set[str]) -> tuple[float, set[str], float]:
    """Probability of "yes" where a row stops, what it buys, and how near a threshold it came."""
    in_use = {f for trees in case.trees for tree in trees for f in features_in(tree)}
    can_be_had = {f for f in in_use if not set(case.needs[f]) & lacking}
    offered = {name for name, price in case.price.items() if price == 0}
    bought, known, seen = offered - lacking, set(), set()
    answering, nearest = 0, math.inf
    for k, stage in enumerate(case.stages):
        offered |= set(stage)
        new = {f for f in in_use - seen if set(case.needs[f]) <= offered}
        seen |= new
        # A source that is of use only together with a missing one is not bought.
        bought |= {name for f in new & can_be_had for name in case.needs[f]}
        known |= new & can_be_had
        # The answer is that of the last stage which knows more than the one before.
        if new & can_be_had or (not new and answering == k - 1):
            answering = k
        p = probability(case, row, known, answering)
        if k == len(case.stages) - 1:
            break
        more = {f for f in in_use - seen if set(case.needs[f]) <= offered | set(case.stages[k + 1])}
        if {name for f in more & can_be_had for name in case.needs[f]} - bought:
            nearest = min(nearest, abs(uncertainty(case, p) - case.thresholds[k]))
            if not uncertainty(case, p) > case.thresholds[k]:
                break
    return p, bought, nearest


# --- Properties ---------------------------------------------------------------------------------------------


def rows_of(data, case: Case, n_rows: int):
    row = st.lists(VALUES, min_size=len(case.needs), max_size=len(case.needs))
    return np.array(data.draw(st.lists(row, min_size=n_rows, max_size=n_rows)))


def bill(case: Case, sources) -> float:
    return sum(case.price[name] for name in sources if name in case.price)


@settings(deadline=None, max_examples=100)
@given(cases(), st.data())
def test_rows_pay_for_what_they_ask_for_and_stop_where_the_rule_says(case, data):
    rows = rows_of(data, case, 4)
    told = case.predictor.simulate(rows)
    for i, row in enumerate(rows):
        p, bought, nearest = followed(case, row, set())
        if nearest < 1e-9:
            continue  # rounding decides
        assert told.probabilities[i, 1] == pytest.approx(p)
        assert told.cost[i] == pytest.approx(bill(case, bought))
        asked: list[str] = []

        def fetch(source, row=row, asked=asked):
            asked.append(source)
            return {name: row[int(name[1:])] for name in case.predictor.features_of(source)}

        decision = case.predictor.decide(fetch)
        assert bill(case, set(asked)) == pytest.approx(told.cost[i])
        assert len(asked) == len(set(asked))
        assert decision.cost == pytest.approx(told.cost[i])
        assert decision.probabilities[1] == pytest.approx(p)
        if abs(p - 0.5) > 1e-9:
            assert decision.label == told.label[i]


@settings(deadline=None, max_examples=100)
@given(cases(), st.data())
def test_sources_that_cannot_be_had(case, data):
    """The row goes on with what it has, and everything that is known is used."""
    lacking = set(data.draw(st.lists(st.sampled_from(list(case.price)), unique=True)))
    row = rows_of(data, case, 1)[0]
    p, bought, nearest = followed(case, row, lacking)
    if nearest < 1e-9:
        return
    predictor, acquired = case.predictor, []
    while True:
        has = {name for name, price in case.price.items() if price == 0 and name not in lacking}
        has |= set(acquired)
        values = {f"x{f}": row[f] for f, each in enumerate(case.needs) if set(each) <= has}
        # Sources that are paid for may still give nothing: another one that a feature needs is missing.
        decision = predictor.step(values, acquired=acquired, unavailable=lacking)
        if decision.next is None:
            break
        assert decision.next not in lacking
        assert decision.next not in acquired
        acquired.append(decision.next)
    assert decision.probabilities[1] == pytest.approx(p)
    assert decision.cost == pytest.approx(bill(case, bought))


@settings(deadline=None, max_examples=100)
@given(cases(), st.data())
def test_what_is_known_is_used_from_the_start(case, data):
    """Known sources cost nothing; one row at a time and many at once say the same."""
    known = set(data.draw(st.lists(st.sampled_from(list(case.price)), unique=True)))
    limit = data.draw(st.sampled_from([None, 0.0, 1.0, 3.0]))
    rows, predictor = rows_of(data, case, 3), case.predictor
    free = known | {name for name, price in case.price.items() if price == 0}
    at_hand = [f for f, each in enumerate(case.needs) if set(each) <= free]
    known &= {name for f in at_hand for name in case.needs[f]}  # whose values can be given
    told = predictor.simulate(rows, known=known, max_cost=limit)
    for i, row in enumerate(rows):
        asked: list[str] = []

        def fetch(source, row=row, asked=asked):
            asked.append(source)
            return {name: row[int(name[1:])] for name in predictor.features_of(source)}

        given_values = {f"x{f}": row[f] for f in at_hand}
        decision = predictor.decide(fetch, known=given_values, max_cost=limit)
        cost = bill(case, set(asked) - known)
        assert decision.cost <= (math.inf if limit is None else limit)
        assert decision.cost == pytest.approx(told.cost[i])
        assert cost == pytest.approx(told.cost[i])
        assert decision.probabilities[1] == pytest.approx(told.probabilities[i, 1])
