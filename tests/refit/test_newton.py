"""Newton's method for the leaves, against a general-purpose optimiser; and what may go wrong on the way."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

from budgetprune import Forest, InvalidInputError
from budgetprune.refit import Sample
from budgetprune.refit.newton import minimise

from ..boosters import KINDS
from .threads import on_threads
from .twins import Twin, pruned, small_boosted

LOSSES = ("squared", "logistic", "softmax", "poisson", "gamma")


def solve(small, ridge, *, start=None, tolerance=1e-9, leaves=None, weight=None, **settings):
    leaves = small.leaves if leaves is None else leaves
    return minimise(
        leaves,
        small.forest.loss,
        small.sample.target,
        small.sample.weight if weight is None else weight,
        ridge,
        start=np.zeros_like(leaves.value) if start is None else start,
        tolerance=tolerance,
        **settings,
    )


def shift(leaves, found):
    return (found.value - leaves.value) / leaves.forest.divisor


def twin(small, ridge):
    return Twin(small.leaves, small.forest.loss, small.sample.target, small.sample.weight, ridge)


@pytest.mark.uncompiled
@pytest.mark.parametrize("ridge", [0.3, 5.0, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_finds_what_another_optimiser_finds(kind, ridge):
    small = small_boosted(kind)
    found = solve(small, ridge)
    assert found.gradient_norm <= 1e-9
    oracle = twin(small, ridge)
    best = oracle.best()
    assert shift(small.leaves, found).ravel() == pytest.approx(best, abs=1e-6)
    assert np.abs(best).max() > 1e-3, "nothing to find"


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", KINDS)
def test_without_ridge_the_loss_is_least(kind):
    """Then many shifts are equally good; and leaves without rows have nothing to go by."""
    small = small_boosted(kind)
    found = solve(small, 0.0, tolerance=1e-6)
    assert found.gradient_norm <= 1e-6
    value, gradient = twin(small, 0.0)(shift(small.leaves, found).ravel())
    _, first = twin(small, 0.0)(np.zeros(small.leaves.value.size))
    assert np.linalg.norm(gradient) <= 1.01e-6 * np.linalg.norm(first)
    assert np.isfinite(value)


@pytest.mark.uncompiled
def test_leaves_without_rows_keep_their_values():
    small = small_boosted("logistic")
    one = small.sample.take(np.array([3]))
    leaves = one.leaves(small.pruning)
    found = minimise(
        leaves, "logistic", one.target, np.ones(1), 0.0, start=np.zeros_like(leaves.value), tolerance=1e-3
    )
    empty = np.setdiff1d(np.arange(len(leaves.value)), leaves.stop)
    assert empty.size > 0
    assert np.array_equal(found.value[empty], leaves.value[empty])
    assert found.gradient_norm <= 1e-3
    assert not np.array_equal(found.value, leaves.value)


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", KINDS)
def test_reported_gradient_is_the_gradient(kind):
    small, ridge = small_boosted(kind), 2.0
    found = solve(small, ridge, tolerance=0.05)
    _, gradient = twin(small, ridge)(shift(small.leaves, found).ravel())
    _, first = twin(small, ridge)(np.zeros(small.leaves.value.size))
    assert found.gradient_norm == pytest.approx(np.linalg.norm(gradient) / np.linalg.norm(first), rel=1e-6)
    assert 0 < found.gradient_norm <= 0.05


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", KINDS)
def test_each_step_lowers_the_objective(kind):
    small, ridge = small_boosted(kind), 0.1
    objective = twin(small, ridge)
    values = [objective(np.zeros(small.leaves.value.size))[0]]
    for n_steps in (1, 2, 3):
        found = solve(small, ridge, max_steps=n_steps)
        assert found.n_steps <= n_steps
        values.append(objective(shift(small.leaves, found).ravel())[0])
    assert values[1] < values[0]
    assert (np.diff(values) <= 1e-12 * abs(values[0])).all()


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_leads_to_the_same_answer_sooner(kind):
    small = small_boosted(kind)
    other = solve(small, 4.0)
    cold = solve(small, 3.9)
    warm = solve(small, 3.9, start=shift(small.leaves, other))
    assert warm.value == pytest.approx(cold.value, abs=1e-7)
    assert warm.n_steps <= cold.n_steps
    assert solve(small, 4.0, start=shift(small.leaves, other), tolerance=1e-6).n_steps == 0


@pytest.mark.uncompiled
@pytest.mark.parametrize("bad", [1e4, np.nan])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_worse_than_the_old_values_is_left_out(loss, bad):
    small = small_boosted(loss)
    warm = solve(small, 3.0, start=np.full_like(small.leaves.value, bad))
    assert warm.value == pytest.approx(solve(small, 3.0).value, abs=1e-7)


@pytest.mark.uncompiled
@pytest.mark.parametrize("loss", LOSSES)
def test_values_that_are_best_already_stay(loss):
    """What is left of the gradient is rounding, and that is no reason to go on."""
    small = small_boosted(loss)
    found = solve(small, 0.0, tolerance=1e-12)
    value = small.forest.value.copy()
    value[small.leaves.node] = found.value
    best = small.sample.leaves(small.pruning, replace(small.forest, value=value))
    again = solve(small, 7.0, leaves=best, tolerance=1e-3)
    assert again.gradient_norm <= 1e-3
    assert again.n_steps <= 1
    assert again.value == pytest.approx(best.value, abs=1e-5)


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", LOSSES)
def test_directions_without_curvature_are_survived(loss, seed):
    """Without a ridge the Hessian is singular; each order of the rows rounds differently."""
    small = small_boosted(loss)
    order = np.random.default_rng(seed).permutation(len(small.sample.target))
    sample = small.sample.take(order)
    leaves = sample.leaves(small.pruning)
    found = minimise(
        leaves,
        loss,
        sample.target,
        sample.weight,
        0.0,
        start=np.zeros_like(leaves.value),
        tolerance=1e-12,
    )
    assert np.isfinite(found.value).all()
    assert found.gradient_norm <= 1e-9


@pytest.mark.uncompiled
def test_a_tolerance_below_rounding_ends_all_the_same():
    small = small_boosted("softmax")
    found = solve(small, 1.0, tolerance=0.0)
    assert found.gradient_norm < 1e-9
    assert found.n_steps < 30


def far_away(loss, score):
    """Rows of a loss, all of whose scores are far from where they should be."""
    small = small_boosted(loss)
    forest = replace(small.pruning.unpruned, base=np.full(small.forest.n_outputs, score))
    pruning = pruned(forest, small.pruning.keep)
    sample = replace(small.sample, forest=forest)
    return replace(small, pruning=pruning, sample=sample, leaves=sample.leaves(pruning))


@pytest.mark.uncompiled
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("loss", "score"),
    [("poisson", -60.0), ("poisson", 60.0), ("gamma", 60.0), ("gamma", -60.0), ("logistic", 900.0)],
)
def test_scores_may_be_far_off(loss, score, ridge):
    """There the loss is flat or steep, and Newton steps are much too long or short."""
    small = far_away(loss, score)
    found = solve(small, ridge, tolerance=1e-8)
    assert found.gradient_norm <= 1e-8
    objective = twin(small, ridge)
    with np.errstate(over="ignore"):
        before, after = (
            objective(x.ravel())[0] for x in (0 * small.leaves.value, shift(small.leaves, found))
        )
    assert after < before


@pytest.mark.uncompiled
@pytest.mark.parametrize(("loss", "score"), [("poisson", 800.0), ("gamma", -800.0), ("squared", 1e200)])
def test_scores_beyond_numbers_are_refused(loss, score):
    with pytest.raises(InvalidInputError, match=f"{loss} loss .* too large to add up.*scores go"):
        solve(far_away(loss, score), 1.0)


@pytest.mark.uncompiled
@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_and_ridge_share_a_unit(loss, scale):
    small = small_boosted(loss)
    found = solve(small, 3.0 * scale, weight=scale * small.sample.weight)
    assert found.value == pytest.approx(solve(small, 3.0).value, abs=1e-7)


@pytest.mark.uncompiled
def test_a_mighty_ridge_keeps_the_values():
    small = small_boosted("softmax")
    found = solve(small, 1e15, tolerance=1e-3)
    assert found.gradient_norm <= 1e-3
    assert found.value == pytest.approx(small.leaves.value, abs=1e-9)


@pytest.mark.uncompiled
def test_steps_can_run_out():
    found = solve(small_boosted("poisson"), 1e-3, tolerance=1e-10, max_steps=1)
    assert found.n_steps == 1
    assert found.gradient_norm > 1e-10


def test_answers_do_not_depend_on_threads():
    """Bit for bit, with more leaves than are added up in one go."""
    X, y = make_classification(3000, 12, n_informative=8, n_classes=3, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=40, min_samples_leaf=2, max_leaf_nodes=60, random_state=0)
    forest = Forest.from_model(model.fit(X, y))
    sample = Sample.of(forest, X, y)
    leaves = sample.leaves(pruned(forest, forest.is_split))
    assert len(leaves.value) > 5000

    def answer():
        return minimise(
            leaves,
            "softmax",
            sample.target,
            sample.weight,
            2.0,
            start=np.zeros_like(leaves.value),
            tolerance=1e-4,
        ).value

    one, two = (on_threads(n, answer) for n in (1, 2))
    assert np.array_equal(one, two)
