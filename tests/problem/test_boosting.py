"""What `recompute` works out again is what a booster with full records wrote down."""

from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from budgetprune import Forest, InvalidInputError, PruningProblem
from budgetprune.problem.boosting import recompute

from ..boosters import KINDS, boosted, with_other_answers

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("kind", KINDS)
def test_gains_and_answers_are_found_again(kind):
    """Leaves without regularisation are shrunken Newton steps, and then so is what inner nodes get."""
    case = boosted(kind)
    forest = recompute(with_other_answers(case.forest), case.X_train, case.y_train, case.weight_train)
    leaves = ~forest.is_split
    np.testing.assert_array_equal(forest.value[leaves], case.forest.value[leaves])
    if "regularised" in kind:
        assert not np.allclose(forest.value, case.forest.value)
    else:
        np.testing.assert_allclose(forest.value, case.forest.value, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(forest.split_gain, case.forest.split_gain, rtol=1e-9, atol=1e-13)


def test_answers_can_be_left_alone():
    case = boosted("logistic")
    forest = with_other_answers(case.forest)
    again = recompute(forest, case.X_train, case.y_train, case.weight_train, inner_values=False)
    np.testing.assert_array_equal(again.value, forest.value)
    problem = PruningProblem(
        forest,
        case.X,
        X_train=case.X_train,
        y_train=case.y_train,
        sample_weight_train=case.weight_train,
    )
    np.testing.assert_allclose(again.split_gain, problem.gain, rtol=1e-12)


def test_nothing_else_changes():
    case = boosted("softmax")
    again = recompute(case.forest, case.X, case.y)
    for field in fields(Forest):
        if field.name not in ("value", "split_gain"):
            assert np.array_equal(
                getattr(again, field.name),
                getattr(case.forest, field.name),
                equal_nan=field.name == "threshold",
            ), field.name
    np.testing.assert_array_equal(again.scores(case.X), case.forest.scores(case.X))


def test_nodes_that_no_row_reaches_keep_their_answer():
    case = boosted("squared")
    forest = with_other_answers(case.forest)
    again = recompute(forest, case.X[:1], case.y[:1])
    reached = np.isin(
        np.arange(forest.n_nodes), [h for leaf in forest.apply(case.X[:1])[0] for h in way(forest, leaf)]
    )
    np.testing.assert_array_equal(again.value[~reached], forest.value[~reached])
    # One row makes one leaf the whole mean.
    for leaf in forest.apply(case.X[:1])[0]:
        np.testing.assert_allclose(again.value[way(forest, leaf), 0], forest.value[leaf, 0], rtol=1e-12)


def way(forest, h):
    """A node and all above it."""
    return [int(h), *([] if forest.parent[h] < 0 else way(forest, forest.parent[h]))]


def test_what_cannot_be_recomputed():
    case = boosted("squared")
    with pytest.raises(InvalidInputError, match="its training loss is not supported"):
        recompute(replace(case.forest, loss=None), case.X, case.y)
    with pytest.raises(InvalidInputError, match="X_train has 3 feature"):
        recompute(case.forest, case.X[:, 1:], case.y)
    with pytest.raises(InvalidInputError, match="y_train must have one entry"):
        recompute(case.forest, case.X, case.y[1:])
    averaged = Forest.from_model(RandomForestRegressor(2, random_state=0).fit(case.X, case.y))
    with pytest.raises(InvalidInputError, match="trees of this forest are averaged"):
        recompute(averaged, case.X, case.y)
