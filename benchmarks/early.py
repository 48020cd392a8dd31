"""Rows of the table about prediction: its speed, and the cost saved by deciding early."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import seconds, seconds_in_turns, stage, times
from benchmarks.report import Row
from budgetprune import BudgetPredictor, Forest
from budgetprune.predictor.rules import ORDERS
from budgetprune.problem.acquisition import sources_used

if TYPE_CHECKING:
    from benchmarks.rows import Bench

# Full cost of the pruned forest; bar for the share of the cost that early decisions save, pruned or not.
BARS = {"MiniBooNE": (24.0, 38.0), "Covertype": (14.0, 31.0)}
BOOSTED_BAR = {"MiniBooNE": 42.0}
# One call takes microseconds, so many calls are timed; the fastest one counts, also for scikit-learn.
CALLS = 200
ROUNDS = 7


def prediction(bench: Bench) -> Iterator[Row]:
    """Time of predictions for batches and single rows, relative to scikit-learn with the same forest."""
    row = partial(Row, "prediction")
    model, X = bench.grown.model, np.ascontiguousarray(bench.grown.X_test)
    predictor = BudgetPredictor(bench.forest)
    runs = {
        "theirs": partial(model.predict_proba, X),
        "ours": partial(predictor.predict_proba, X),
        "replay": partial(predictor.simulate, X),
    }
    with stage("batches"):
        taken = seconds_in_turns(runs, ROUNDS)
    theirs, ours, replay = (taken[name] for name in ("theirs", "ours", "replay"))
    yield row("predict_proba / scikit-learn's", ours / theirs, 0.4, note=times(ours, theirs))
    yield row("simulate / scikit-learn's predict_proba", replay / theirs, 8.0, note=times(replay, theirs))
    values = [dict(zip(predictor.feature_names, x, strict=True)) for x in X[:CALLS].tolist()]
    alone = model.set_params(n_jobs=None)
    with stage("single rows"):
        one = _fastest(partial(predictor.decide, values[0]))
        theirs = _fastest(partial(alone.predict, X[:1]))
        # Different rows take different paths through the trees, so caches and the branch predictor are cold.
        each, _ = seconds(lambda: [predictor.decide(some) for some in values])
        theirs_each, _ = seconds(lambda: [alone.predict(X[i : i + 1]) for i in range(len(values))])
    model.set_params(n_jobs=2)
    what = f"scikit-learn's predict on one row / one row decided from a dictionary, {CALLS} rows in turn"
    note = times(theirs_each / len(values), each / len(values))
    yield row(what, theirs_each / each, 100.0, at_least=True, note=note)
    yield row("  the same, one row again and again", theirs / one, note=times(theirs, one))


def early(bench: Bench) -> Iterator[Row]:
    """Share of the cost that early decisions save on test rows, for each order of acquisition."""
    name, X = bench.grown.name, bench.grown.X_test
    budget, bar = BARS.get(name, (None, None))
    yield from _saved("forest", bench.forest, X, bar)
    if budget is None:
        budget = bench.path.unpruned.cost / 2
    yield from _saved(f"forest pruned to {budget:g}", bench.path.at(budget=budget).forest, X, bar)
    with stage("training LightGBM with lazy costs"):
        _, booster = seconds(partial(_boosted, *bench.grown.train))
    yield from _saved("LightGBM, lazy costs", Forest.from_model(booster), X, BOOSTED_BAR.get(name))


def _saved(what: str, forest: Forest, X: NDArray[Any], bar: float | None) -> Iterator[Row]:
    plain = forest.predict(X)
    for order in ORDERS:
        predictor = BudgetPredictor(forest, order=order)
        full = predictor.costs.total(sources_used(forest, predictor.costs, X))
        with stage(f"{what}, {order}"):
            found = predictor.simulate(X)
        assert np.array_equal(found.label, plain)
        assert np.all(found.cost <= full)
        saved = 100 * (1 - found.cost.mean() / full.mean())
        note = f"{found.cost.mean():.2f} of {full.mean():.2f}"
        is_usual = order == ORDERS[0]
        yield Row(
            "early",
            f"saved, {what}" if is_usual else f"  the same, order {order!r}",
            float(saved),
            bar if is_usual else None,
            unit="%",
            note=note,
            at_least=True,
        )


def _boosted(X: NDArray[Any], y: NDArray[Any]) -> Any:
    return lightgbm.LGBMClassifier(
        n_estimators=200,
        num_leaves=31,
        n_jobs=2,
        verbose=-1,
        random_state=0,
        min_child_weight=1.0 if np.unique(y).size > 2 else 1e-3,
        cegb_tradeoff=0.01,
        cegb_penalty_feature_lazy=[1.0] * X.shape[1],
    ).fit(X, y)


def _fastest(run: Callable[[], Any]) -> float:
    return min(seconds(run)[0] for _ in range(CALLS))
