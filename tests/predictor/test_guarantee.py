"""What is promised: without slack, the label of the plain forest, for never more than its full cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..solvers.strategies import examples
from . import oracles
from .forests import KINDS, TWO_CLASSES, Case, cases

THRESHOLDS = [0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0]


def assert_guaranteed(case: Case, **settings) -> None:
    """Every row has the plain answer, what it acquires is on its paths, and all of it is accounted for."""
    predictor, forest = case.predictor(**settings), case.forest
    simulation = predictor.simulate(case.rows)
    plain = [oracles.plain_label(forest, row, predictor.threshold) for row in forest.prepare_rows(case.rows)]
    np.testing.assert_array_equal(simulation.label, plain)
    np.testing.assert_array_equal(predictor.predict(case.rows), plain)
    assert simulation.decided.all()
    names = np.array(predictor.source_names)
    for i, row in enumerate(forest.prepare_rows(case.rows)):
        acquired = set(names[simulation.acquired[i]])
        assert acquired <= oracles.sources_needed(forest, predictor.costs, row)
        assert simulation.cost[i] == pytest.approx(
            sum(oracles.price_of(predictor.costs, s) for s in acquired)
        )


@pytest.mark.nojit
@examples(400)
@given(case=cases())
def test_the_label_is_the_plain_one(case):
    assert_guaranteed(case)


@pytest.mark.nojit
@examples(150)
@given(case=cases(TWO_CLASSES), data=st.data())
def test_the_label_is_the_plain_one_with_a_threshold(case, data):
    """Also with thresholds that are exactly the probability of some row, or one step beside it."""
    rows = case.forest.prepare_rows(case.rows)
    exact = [float(np.clip(oracles.plain_probabilities(case.forest, row)[1], 0, 1)) for row in rows]
    near = [float(np.clip(np.nextafter(p, to), 0, 1)) for p in exact for to in (0, 1)]
    assert_guaranteed(case, threshold=data.draw(st.sampled_from(THRESHOLDS + exact + near)))


@pytest.mark.nojit
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind):
    """All kinds in turn, so that none depends on what hypothesis happens to draw."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        from .forests import random_bundles, random_forest, random_rows

        forest = random_forest(rng, kind, 4, 5)
        assert_guaranteed(Case(forest, random_bundles(rng, 4), random_rows(rng, forest, 8)))
