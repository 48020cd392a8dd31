"""Distributed problems against the same problem in memory."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning

from budgetprune import Forest
from budgetprune.distributed import DistributedProblem
from budgetprune.errors import InvalidInputError

from ..solvers.strategies import examples
from .cases import NAMES, all_kinds_of_costs, bits, case, expand, random_keep

OPTIONS = [
    {},
    {"error": "held-out", "target": "y"},
    {"error": "held-out", "target": "y", "weight": "w", "loss": "brier"},
    {"weight": "w", "computation_weight": 0.1},
]
LAM = 0.01


@pytest.mark.parametrize("costs", all_kinds_of_costs())
@pytest.mark.parametrize("options", OPTIONS)
def test_values_are_those_of_the_problem_in_memory(costs, options):
    oracle = case().in_memory(costs=costs, **options)
    problem = case().distributed(3, costs=costs, **options)
    assert problem.error == pytest.approx(oracle.error, abs=1e-15)
    assert problem.computation == pytest.approx(oracle.computation, abs=1e-15)
    assert problem.scale == pytest.approx(oracle.scale)
    assert (problem.n_examples, problem.n_uses) == (oracle.n_examples, oracle.n_uses)
    rng = np.random.default_rng(0)
    for keep in (
        oracle.unpruned,
        np.zeros_like(oracle.unpruned),
        *(random_keep(oracle, rng) for _ in range(3)),
    ):
        assert problem.cost_of(keep) == pytest.approx(oracle.cost_of(keep), rel=1e-12)
        assert problem.objective(keep, LAM) == pytest.approx(oracle.objective(keep, LAM), rel=1e-12)
    critical = oracle.path().critical_lambda
    lams = np.concatenate([[0.0], np.unique(critical[np.isfinite(critical)]), [1e9]])
    for mine, theirs in zip(problem.trade_off(critical, lams), oracle.trade_off(critical, lams), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("costs", all_kinds_of_costs())
@pytest.mark.parametrize("options", OPTIONS)
def test_solutions_reach_the_gap_and_the_optimum_lies_between(costs, options):
    oracle = case().in_memory(costs=costs, **options)
    problem = case().distributed(2, costs=costs, **options)
    for lam in (0.0, 0.003, 0.02):
        pruning = problem.solve(lam, gap=0.005)
        certificate = problem.certify(pruning)
        optimum = oracle.certify(oracle.solve(lam)).objective
        assert certificate.gap <= 0.005 + 1e-12
        assert certificate.bound <= optimum + 1e-12
        assert optimum <= certificate.objective + 1e-12
        assert certificate.gap == pytest.approx(pruning.report.gap, abs=1e-12)
        dual = np.maximum(pruning.dual, -1e6)
        bound = oracle.bound(expand(oracle, dual, lam), lam)
        assert certificate.bound == pytest.approx(bound, abs=1e-9 * oracle.scale)


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.05))
@examples(25)
def test_any_weights_give_a_valid_bound(seed, lam):
    oracle, problem = case().in_memory(), case().distributed(2)
    rng = np.random.default_rng(seed)
    pruning = problem.pruning(random_keep(oracle, rng), lam)
    dual = rng.normal(size=problem.n_uses) * rng.choice([0.1, 10.0, 1000.0])
    certificate = problem.certify(pruning, dual)
    rounded = np.rint(dual * 4096) / 4096
    used = rounded >= rounded[problem._relevant].max() - 860
    expected = oracle.bound(expand(oracle, np.where(used, rounded, -1e6), lam), lam)
    assert certificate.bound <= oracle.certify(oracle.solve(lam)).objective + 1e-12
    # Uses that no pruning can pay for are left out of the shares, which can only raise the bound.
    assert certificate.bound >= expected - 1e-9 * oracle.scale
    assert certificate.objective == pytest.approx(oracle.objective(pruning.keep, lam), rel=1e-12)


@pytest.mark.parametrize("options", OPTIONS)
def test_same_bits_with_any_number_of_workers(options):
    answers = [bits(case().distributed(workers, **options)) for workers in (1, 2, 4, 7)]
    assert answers.count(answers[0]) == 4


def test_same_bits_for_any_order_and_division_of_the_rows():
    """Only the sample depends on which row is which."""
    shuffled = case().frame.sample(frac=1, random_state=0)
    options = {"error": "held-out", "target": "y", "weight": "w", "sample": 0}
    answers = [
        bits(DistributedProblem(case().forest, frame, workers=workers, **options))
        for frame, workers in ((case().frame, 1), (shuffled, 1), (shuffled, 5))
    ]
    assert answers.count(answers[0]) == 3


def test_blocks_do_not_matter(monkeypatch):
    expected = bits(case().distributed(2, error="held-out", target="y", weight="w"))
    monkeypatch.setattr("budgetprune.distributed.problem.block_size", lambda *sizes: 37)
    assert bits(case().distributed(2, error="held-out", target="y", weight="w")) == expected


@pytest.mark.parametrize("class_weight", ["balanced", (1.0, 3.0)])
def test_class_weights_of_the_model_count(class_weight):
    weighted = case(class_weight=class_weight)
    options = {"error": "held-out", "target": "y", "weight": "w"}
    oracle, problem = weighted.in_memory(**options), weighted.distributed(2, **options)
    assert problem.error == pytest.approx(oracle.error, abs=1e-14)


def test_weights_of_any_size_count():
    frame = case().frame.assign(w=np.random.default_rng(1).lognormal(0, 2, len(case().frame)) * 1e-200)
    problem = DistributedProblem(case().forest, frame, weight="w", workers=2)
    oracle = type(case())(case().forest, frame).in_memory(weight="w")
    keep = random_keep(oracle, np.random.default_rng(0))
    assert problem.cost_of(keep) == pytest.approx(oracle.cost_of(keep), rel=1e-9)


def test_path_has_a_point_within_each_budget():
    options = {"error": "held-out", "target": "y", "loss": "brier"}
    rows = case(3000)
    oracle, problem = rows.in_memory(**options), rows.distributed(3, sample=500, **options)
    budgets = [2.2, 3.5, 6.5, 7.5]
    path = problem.path(budgets=budgets, gap=0.01)
    exact = oracle.path(certify=True)
    assert not path.complete
    assert np.all(path.gap <= 0.01 + 1e-12)
    for budget in budgets:
        mine, best = path.at(budget=budget), exact.at(budget=budget)
        assert mine.cost <= budget * (1 + 1e-9)
        assert oracle.cost_of(mine.keep) == pytest.approx(mine.cost)
        assert mine.error <= best.error + 0.02 * oracle.scale + mine.lam * (budget - mine.cost)
    for pruning, bound in zip(path, path.bound, strict=True):
        assert bound <= oracle.certify(oracle.solve(pruning.lam)).objective + 1e-12


def test_path_of_a_sample_that_holds_all_rows_is_exact():
    oracle, problem = case().in_memory(), case().distributed(2)
    path = problem.path(n_points=4, gap=0.02)
    for pruning in path:
        exact = oracle.objective(oracle.solve(pruning.lam).keep, pruning.lam)
        assert oracle.objective(pruning.keep, pruning.lam) == pytest.approx(exact, rel=1e-9)


def test_path_for_lambdas_with_and_without_a_sample():
    for sample in (0, 100):
        path = case().distributed(2, sample=sample).path(lams=[0.02, 0.001, 0.005], gap=0.01)
        assert path.lam.tolist() == [0.001, 0.005, 0.02]
        assert np.all(path.gap <= 0.01 + 1e-12)


def test_a_sample_saves_passes_over_all_rows():
    iterations = [
        case(3000).distributed(sample=sample).solve(0.03, gap=0.003).report.iterations for sample in (0, 300)
    ]
    assert iterations[1] < iterations[0]


def test_columns_are_found_by_name_and_others_are_ignored():
    frame = case().frame
    mixed = frame[["w", *NAMES[::-1], "y"]].assign(key="text")
    assert bits(DistributedProblem(case().forest, mixed)) == bits(case().distributed())
    tested = [NAMES[k] for k in case().forest.used_features]
    assert bits(DistributedProblem(case().forest, frame[tested])) == bits(case().distributed())


def test_boosted_and_regression_forests_with_recorded_errors():
    frame = case().frame
    X, y = frame[NAMES].fillna(0.0), frame["y"]
    for model in (
        GradientBoostingClassifier(n_estimators=4, max_depth=3, random_state=0),
        RandomForestRegressor(4, max_depth=4, random_state=0),
    ):
        forest = Forest.from_model(model.fit(X, y))
        if forest.is_boosted and forest.split_gain is None:
            with pytest.raises(InvalidInputError, match="records no usable gains"):
                DistributedProblem(forest, X)
            continue
        oracle = type(case())(forest, X).in_memory()
        problem = DistributedProblem(forest, X, workers=2)
        pruning = problem.solve(0.001)
        assert problem.certify(pruning).gap <= 0.01
        assert oracle.objective(pruning.keep, 0.001) == pytest.approx(problem.objective(pruning.keep, 0.001))


def test_arrays_are_rows_by_position():
    X = case().frame[NAMES].to_numpy()
    with pytest.raises(InvalidInputError, match="no column"):
        DistributedProblem(case().forest, X)
    unnamed = replace(case().forest, feature_names=None)
    assert bits(DistributedProblem(unnamed, X)) == bits(case().distributed())
    with pytest.raises(InvalidInputError, match="9 columns of features"):
        DistributedProblem(unnamed, np.column_stack([X, X[:, 0]]))


def test_warns_if_the_gap_is_not_reached():
    problem = case().distributed(sample=0)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        pruning = problem.solve(LAM, gap=0.0, max_iterations=1)
    assert not pruning.report.converged
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        problem.path(lams=[LAM], gap=0.0, max_iterations=1)


def test_progress_bar_only_if_asked_for(capsys):
    problem = case().distributed(2)
    problem.solve(LAM)
    assert capsys.readouterr().err == ""
    problem.solve(LAM, verbose=True)
    assert "gap" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": "out-of-bag"}, "not available for distributed rows"),
        ({"error": "held-out"}, "pass target"),
        ({"error": "held-out", "target": "z"}, "target='z' is not a column"),
        ({"weight": "z"}, "weight='z' is not a column"),
        ({"computation_weight": -1}, "computation_weight"),
        ({"engine": "spark"}, "engine='spark' is unknown"),
        ({"workers": 0}, "workers must be an integer of at least 1"),
        ({"workers": 10_000}, "too many for 600 rows"),
        ({"loss": "squared"}, "does not fit a classifier"),
        ({"sample": -1}, "sample must be"),
    ],
)
def test_refuses_options_that_make_no_sense(options, message):
    with pytest.raises(InvalidInputError, match=message):
        DistributedProblem(case().forest, case().frame, **options)


def test_refuses_rows_that_make_no_sense():
    frame, forest = case().frame, case().forest
    with pytest.raises(InvalidInputError, match="has no column 'c1'"):
        DistributedProblem(forest, frame.drop(columns="c1"))
    with pytest.raises(InvalidInputError, match=r"'c1' .* must hold numbers"):
        DistributedProblem(forest, frame.assign(c1="text"))
    with pytest.raises(InvalidInputError, match="infinity"):
        DistributedProblem(forest, frame.assign(c1=np.inf))
    with pytest.raises(InvalidInputError, match="negative or missing weight in rows 0 to 600"):
        DistributedProblem(forest, frame.assign(w=-1.0), weight="w")
    with pytest.raises(InvalidInputError, match="all weights in column 'w' are 0"):
        DistributedProblem(forest, frame.assign(w=0.0), weight="w")
    with pytest.raises(InvalidInputError, match="labels that the forest does not know: 7"):
        DistributedProblem(forest, frame.assign(y=7), error="held-out", target="y")
    with pytest.raises(InvalidInputError, match="missing values"):
        DistributedProblem(forest, frame.assign(y=np.nan), error="held-out", target="y")
    with pytest.raises(InvalidInputError, match="empty table"):
        DistributedProblem(forest, frame[:0])
    with pytest.raises(InvalidInputError, match="forest must be a Forest"):
        DistributedProblem(forest.origin, frame)
    with pytest.raises(InvalidInputError, match="rows must be Parquet files"):
        DistributedProblem(forest, ["a", 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.solve(-1.0), "lam"),
        (lambda p: p.solve(0.1, gap=-1), "gap"),
        (lambda p: p.solve(0.1, max_iterations=0), "max_iterations"),
        (lambda p: p.path(), "give one of budgets, n_points and lams"),
        (lambda p: p.path(budgets=[1], lams=[0.1]), "give one of"),
        (lambda p: p.path(budgets=[]), "is empty"),
        (lambda p: p.path(lams=[]), "is empty"),
        (lambda p: p.path(n_points=0), "n_points"),
        (lambda p: p.path(budgets=[-1]), "budget"),
        (lambda p: p.certify(p.pruning(p.unpruned, 0.1)), "no dual"),
        (lambda p: p.certify(p.pruning(p.unpruned, 0.1), [1.0]), "one number for each"),
    ],
)
def test_refuses_calls_that_make_no_sense(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(case().distributed())


def test_budgets_need_a_sample_and_no_computation_weight():
    with pytest.raises(InvalidInputError, match="need a sample"):
        case().distributed(sample=0).path(budgets=[1.0])
    with pytest.raises(InvalidInputError, match="computation_weight"):
        case().distributed(computation_weight=0.1).path(budgets=[1.0])


def test_one_row_is_enough():
    frame = pd.DataFrame(case().frame[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = DistributedProblem(case().forest, frame)
        assert problem.certify(problem.solve(LAM)).gap <= 0.01
