"""What a pruning is worth: by hand on one small tree, and against the definitions on all models."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem

pytestmark = pytest.mark.uncompiled

NONE, ROOT, BOTH = ([False] * 5, [True] + [False] * 4, [True, False, True, False, False])


@pytest.fixture
def by_hand():
    """A tree that asks for x0 first, and on its right side for x1.

    .              0: x0?  (6 no, 2 yes)
                  /        \\
        1: (5 no)           2: x1?  (1 no, 2 yes)
                           /        \\
                 3: (1 no)           4: (2 yes)
    """
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [3, 2, 1, 2], axis=0)
    y = np.repeat(["no", "yes"], [6, 2])
    forest = Forest.from_model(DecisionTreeClassifier(random_state=0).fit(X, y))
    assert forest.feature.tolist() == [0, -1, 1, -1, -1]
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    return PruningProblem(forest, rows, costs=[2, 3], computation_weight=0.5)


def test_errors_by_hand(by_hand):
    assert by_hand.lost.tolist() == [2, 0, 1, 0, 0]
    assert by_hand.counted.tolist() == [8]
    assert by_hand.error.tolist() == [0.25, 0, 0.125, 0, 0]
    assert by_hand.lost_gain.tolist() == [1, 0, 1, 0, 0]
    assert by_hand.gain.tolist() == [0.125, 0, 0.125, 0, 0]


def test_rows_and_uses_by_hand(by_hand):
    assert by_hand.order.tolist() == [[0, 1, 2, 3]]
    assert by_hand.row_start.tolist() == [0, 0, 2, 2, 3]
    assert by_hand.row_stop.tolist() == [4, 2, 4, 3, 4]
    assert by_hand.use_node.tolist() == [0, 2]
    assert by_hand.use_source.tolist() == [0, 1]
    assert by_hand.use_start.tolist() == [0, 4, 6]
    assert (by_hand.n_examples, by_hand.n_sources, by_hand.n_uses, by_hand.n_incidences) == (4, 2, 2, 6)
    assert by_hand.acquired(BOTH).tolist() == [[True, False], [True, False], [True, True], [True, True]]


@pytest.mark.parametrize(
    ("keep", "error", "cost", "depth"), [(NONE, 0.25, 0, 0), (ROOT, 0.125, 2, 1), (BOTH, 0, 3.5, 1.5)]
)
def test_prunings_by_hand(by_hand, keep, error, cost, depth):
    assert by_hand.error_of(keep) == error
    assert by_hand.cost_of(keep) == cost
    assert by_hand.computation_of(keep) == 0.5 * depth
    assert by_hand.objective(keep, 0) == error
    assert by_hand.objective(keep, 0.1) == pytest.approx(error + 0.1 * (cost + 0.5 * depth))
    pruning = by_hand.pruning(keep, 0.1)
    assert (pruning.lam, pruning.error, pruning.cost, pruning.dual) == (0.1, error, cost, None)
    assert pruning.n_splits == sum(keep)
    assert pruning.forest.n_splits == sum(keep)


def test_unpruned(by_hand):
    assert by_hand.unpruned.tolist() == BOTH


@pytest.mark.parametrize("seed", range(2))
def test_error_is_the_average_over_trees_of_what_their_leaves_lose(case, prune_randomly, twins, seed):
    problem = PruningProblem(case.forest, case.X, case.y, error="held-out")
    keep = prune_randomly(case.forest, seed)
    pruned = case.forest.prune(keep)
    loss = "misclassification" if case.forest.is_classifier else "squared"
    weight = twins.class_weight(case, case.y)
    rows = list(zip(case.X, case.y, strict=True))
    per_tree = [
        np.average(
            [twins.loss(pruned, loss, twins.way(pruned, t, row)[-1], y) for row, y in rows],
            weights=weight,
        )
        for t in range(pruned.n_trees)
    ]
    assert problem.error_of(keep) == pytest.approx(np.mean(per_tree))


@pytest.mark.parametrize("seed", range(2))
def test_gains_add_up_to_what_a_pruning_saves(case, prune_randomly, seed):
    problem = PruningProblem(case.forest, case.X, case.y, error="held-out")
    keep = prune_randomly(case.forest, seed)
    roots = problem.error[case.forest.tree_start[:-1]].sum()
    assert roots - problem.gain[keep].sum() == pytest.approx(problem.error_of(keep), abs=1e-12)
    assert not problem.gain[~case.forest.is_split].any()
    assert not problem.lost_gain[~case.forest.is_split].any()


@pytest.mark.parametrize("seed", range(2))
def test_computation_is_average_depth(case, prune_randomly, twins, seed):
    """The paper counts depth at leaves; summed by parts, it is the share of rows at each split that stays."""
    problem = PruningProblem(
        case.forest, case.X, case.y, error="held-out", sample_weight=case.weight, computation_weight=0.3
    )
    keep = prune_randomly(case.forest, seed)
    pruned = case.forest.prune(keep)
    depth = [sum(len(twins.way(pruned, t, row)) - 1 for t in range(pruned.n_trees)) for row in case.X]
    assert problem.computation_of(keep) == pytest.approx(0.3 * np.average(depth, weights=case.weight))
    assert problem.objective(keep, 2.0) == pytest.approx(
        problem.error_of(keep) + 2 * problem.cost_of(keep) + 2 * problem.computation_of(keep)
    )


def test_computation_is_free_unless_it_is_given_a_weight(case):
    problem = PruningProblem(case.forest, case.X, case.y, error="held-out")
    assert not problem.computation.any()


def test_weights_are_repetitions(get_case):
    case = get_case("forest")
    often = np.repeat(np.arange(len(case.X)), case.weight.astype(int))
    options = {"error": "held-out", "computation_weight": 0.2}
    weighted = PruningProblem(case.forest, case.X, case.y, sample_weight=case.weight, **options)
    repeated = PruningProblem(case.forest, case.X[often], case.y[often], **options)
    assert np.array_equal(weighted.lost, repeated.lost)
    assert np.array_equal(weighted.computation, repeated.computation)
    assert weighted.cost_of(weighted.unpruned) == pytest.approx(repeated.cost_of(repeated.unpruned))


def test_everything_is_read_only(by_hand):
    arrays = {name: value for name, value in vars(by_hand).items() if isinstance(value, np.ndarray)}
    assert {"order", "use_start", "lost", "error", "gain", "computation", "row_weight"} <= set(arrays)
    for name, array in arrays.items():
        assert not array.flags.writeable, name


def test_a_pruning_keeps_its_own_mask(by_hand):
    keep = np.array(ROOT)
    pruning = by_hand.pruning(keep, 1.0, report="done")
    keep[2] = True
    assert pruning.n_splits == 1
    assert pruning.report == "done"
    assert pruning.unpruned is by_hand.forest
    assert pruning.forest is pruning.forest
    assert "keep" not in repr(pruning)


def test_same_input_same_bits(get_case, prune_randomly):
    case = get_case("forest")
    first, second = (
        PruningProblem(case.forest, case.X, case.y, error="pooled", **case.train) for _ in range(2)
    )
    keep = prune_randomly(case.forest, 0)
    beta = np.random.default_rng(0).random(first.n_incidences) / 100
    assert first.objective(keep, 0.1) == second.objective(keep, 0.1)
    assert first.bound(beta, 0.1) == second.bound(beta, 0.1)
