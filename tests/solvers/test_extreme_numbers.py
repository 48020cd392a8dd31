"""Prices, lambdas and targets of any magnitude: the answer stays optimal, and budgets mean what they say."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetprune import Forest, InvalidInputError, PruningProblem

from .oracles import enumerate_prunings, random_case


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def make_problem(data):
    X, y = data
    forest = Forest.from_model(RandomForestClassifier(5, max_depth=4, random_state=0).fit(X[:300], y[:300]))
    return lambda n_rows=269, **options: PruningProblem(forest, X[300 : 300 + n_rows], **options)


@pytest.mark.parametrize("costs", [[0.01, 1000] * 15, 1e6, 1e-9, np.geomspace(1e-6, 1e6, 30)], ids=str)
def test_prices_of_any_magnitude(make_problem, costs):
    problem = make_problem(costs=costs)
    path = problem.path(certify=True)
    assert path.gap.max() <= 1e-9
    for lam in [*path.lam[-3:], path.lam[-1] * 2]:
        best = problem.objective(path.at(lam=lam).keep, lam)
        assert problem.objective(problem.solve(lam).keep, lam) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("exponent", [-160, -60, 3, 60, 160])
def test_the_unit_of_prices_does_not_matter(make_problem, exponent):
    """Powers of two change no digit, so all is the same, but for the unit."""
    prices, unit = np.linspace(0.5, 3.0, 30), 2.0**exponent
    path, scaled = make_problem(costs=prices).path(), make_problem(costs=prices * unit).path()
    np.testing.assert_array_equal(scaled.critical_lambda, path.critical_lambda / unit)
    np.testing.assert_array_equal(scaled.cost, path.cost * unit)
    np.testing.assert_array_equal(scaled.error, path.error)


@pytest.mark.parametrize("unit", [1e-40, 1 / 3, 1e40])
def test_units_that_are_no_powers_of_two(make_problem, unit):
    prices = np.linspace(0.5, 3.0, 30)
    path, scaled = make_problem(costs=prices).path(), make_problem(costs=prices * unit).path()
    assert scaled.n_splits.tolist() == path.n_splits.tolist()
    assert scaled.lam * unit == pytest.approx(path.lam)
    assert scaled.cost / unit == pytest.approx(path.cost)


@pytest.mark.parametrize("seed", range(8))
def test_prices_of_one_list_may_be_far_apart(seed):
    """Compared with all prunings, in exact arithmetic: next to 1e50, a price of 1e-50 still counts."""
    case = random_case(seed)
    prices = np.random.default_rng(seed).permutation([1e-50, 1e-20, 1.0, 1e50])
    problem = PruningProblem(case.problem.forest, case.X, costs=prices)
    keeps = enumerate_prunings(problem, case.X).keep
    path = problem.path(certify=True)
    assert path.gap.max() <= 1e-9
    errors = [exact_sum(problem.error, is_leaf(problem.forest, keep)) for keep in keeps]
    costs = [exact_cost(problem, keep) for keep in keeps]
    for lam in [*path.lam, *np.sqrt(path.lam[1:-1] * path.lam[2:])]:
        values = [error + Fraction(lam) * cost for error, cost in zip(errors, costs, strict=True)]
        ours = np.flatnonzero((keeps == path.at(lam=lam).keep).all(axis=1))[0]
        assert values[ours] - min(values) <= Fraction(1e-12)


def is_leaf(forest, keep):
    return ~keep & ((forest.parent < 0) | keep[forest.parent])


def exact_sum(numbers, mask):
    return sum(map(Fraction, numbers[mask].tolist()), Fraction(0))


def exact_cost(problem, keep):
    acquired = problem.acquired(keep)
    paid = [exact_sum(problem.costs.price, row) for row in acquired]
    return sum(Fraction(w) * each for w, each in zip(problem.row_weight.tolist(), paid, strict=True))


@pytest.mark.parametrize("price", [1e308, 1e51, 1e-51, 5e-324])
def test_prices_that_cannot_be_computed_with_are_refused(make_problem, price):
    prices = [1.0] * 29 + [price]
    with pytest.raises(InvalidInputError, match=r"0 or from 1e-50 to 1e\+50, but are not for column 29 \("):
        make_problem(costs=prices)
    with pytest.raises(InvalidInputError, match="computation_weight must be 0 or from"):
        make_problem(computation_weight=price)


@pytest.mark.parametrize("lam", [4.0, 5000.0, 1e15])
@pytest.mark.parametrize("n_rows", [1, 269])
def test_a_huge_lambda_prunes_all_that_is_paid_for(make_problem, lam, n_rows):
    problem = make_problem(n_rows)
    one = problem.solve(lam)
    assert one.cost == 0
    assert problem.certify(one).gap <= 1e-9
    assert problem.path(lams=[lam, 0.0, lam]).cost[-1] == 0


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e12])
def test_targets_of_any_magnitude(data, scale):
    X, _ = data
    model = RandomForestRegressor(5, max_depth=5, random_state=0).fit(X[:300, 1:], scale * X[:300, 0])
    problem = PruningProblem(Forest.from_model(model), X[300:, 1:])
    assert problem.path(certify=True).gap.max() <= 1e-9


def test_every_point_is_within_a_budget_of_its_own_cost(make_problem):
    path = make_problem().path()
    for point in path:
        if point.cost == 0:
            continue  # a budget of 0 is legal, but warned about
        assert path.at(budget=round(point.cost, 9)).cost == pytest.approx(point.cost, abs=1e-8)


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("resolution", [0.01, 0.5, 2.0, 5.0])
def test_a_resolution_bounds_the_steps_in_cost(make_problem, resolution, certify):
    problem = make_problem()
    whole, coarse = problem.path(), problem.path(resolution=resolution, certify=certify)
    largest_step = -np.diff(whole.cost).min()
    assert -np.diff(coarse.cost).min() <= max(resolution, largest_step) + 1e-9
    assert coarse.cost[[0, -1]] == pytest.approx(whole.cost[[0, -1]])
    assert np.all(np.diff(coarse.n_splits) < 0)  # no point is listed twice
    assert len(coarse) <= len(whole)


def test_what_cannot_be_added_up_is_refused(make_problem, data):
    X, y = data
    with pytest.raises(InvalidInputError, match="sample_weight is too large to add up"):
        make_problem(sample_weight=np.full(269, 1e308))
    with np.errstate(over="ignore"):
        model = RandomForestRegressor(2, random_state=0).fit(X[:300], 1e150 * y[:300])
        forest = Forest.from_model(model)
    with pytest.raises(InvalidInputError, match="node errors are too large"), np.errstate(all="ignore"):
        PruningProblem(forest, X[300:], 1e200 * y[300:], error="held-out")


def test_a_model_is_no_forest(data):
    X, y = data
    with pytest.raises(InvalidInputError, match=r"write Forest\.from_model"):
        PruningProblem(RandomForestClassifier(2).fit(X, y), X)
