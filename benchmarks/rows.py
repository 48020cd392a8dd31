"""Rows of the table: the compared quantities and the limit of each ratio."""

from __future__ import annotations

import copy
import statistics
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.early import early, prediction
from benchmarks.measure import (
    MB,
    BenchmarkError,
    busy_cores,
    in_fresh_process,
    median_seconds,
    seconds,
    stage,
    time_in_words,
    times,
)
from benchmarks.ours import path_of_file
from benchmarks.peers import FlowGraph, build_flow, solve_file, solve_flow
from benchmarks.report import Row
from benchmarks.shapes import Grown
from budgetprune import Forest, Pruning, PruningPath, PruningProblem
from budgetprune.solvers.parametric.graph import build_closure

# Bars of the complete path, by setting, against one solve by OR-tools and against training.
PEER_BARS = {"MiniBooNE shape": 0.4, "MiniBooNE": 0.8, "Covertype": 0.8}
TRAINING_BARS = {"MiniBooNE shape": 0.12, "MiniBooNE": 0.1, "Covertype": 0.4}


class Bench:
    """One forest and the measurements on it; measurements that several rows need are cached."""

    def __init__(self, grown: Grown, repeats: int) -> None:
        self.grown, self.repeats = grown, repeats
        self.forest = Forest.from_model(grown.model)
        self.problem = PruningProblem(self.forest, grown.X_val)

    @property
    def size(self) -> str:
        n_rows, n_features = self.grown.X_val.shape
        forest, problem = self.forest, self.problem
        return (
            f"{forest.n_trees} trees, {forest.n_splits:,} splits; {n_rows:,} rows, {n_features} features; "
            f"{problem.n_incidences:,} incidences"
        )

    def time(self, what: str, run: Callable[[], Any]) -> float:
        """Time a few calls of a short function, and print it."""
        with stage(what):
            return median_seconds(run, self.repeats)[0]

    @cached_property
    def decision_path_seconds(self) -> float:
        run = partial(self.grown.model.decision_path, self.grown.X_val)
        run()  # the second call counts
        return self.time("scikit-learn's decision_path", run)

    @cached_property
    def build_seconds(self) -> float:
        return self.time("building the problem", partial(PruningProblem, self.forest, self.grown.X_val))

    @cached_property
    def _timed_path(self) -> tuple[float, PruningPath]:
        with stage("the complete path"):
            return median_seconds(self.problem.path, self.repeats)

    @property
    def path_seconds(self) -> float:
        return self._timed_path[0]

    @property
    def path(self) -> PruningPath:
        return self._timed_path[1]

    @cached_property
    def graph(self) -> FlowGraph:
        closure = build_closure(self.problem)
        price = closure.price * closure.unit
        return FlowGraph(closure.gain, closure.parent, closure.arc_start, closure.arc_pair, price)

    @cached_property
    def peer_seconds(self) -> dict[float, float]:
        """OR-tools' time for some lambdas, chosen to include the hardest.

        They are at and around the breakpoint that drops the most splits, and where a quarter, half and three
        quarters of the cost are left.
        """
        drop = self.path.lam[1 + int(np.argmax(-np.diff(self.path.n_splits)))]
        spread = [float(self.path.lam[self.point_at(share)]) for share in (0.25, 0.5, 0.75)]
        return {lam: self._time_peer(lam) for lam in sorted({0.98 * drop, drop, 1.02 * drop, *spread})}

    def point_at(self, share: float) -> int:
        """Find the point of the path that has about this share of the largest cost."""
        return int(np.argmin(np.abs(self.path.cost - share * self.path.cost[0])))

    @property
    def hardest(self) -> float:
        return max(self.peer_seconds, key=self.peer_seconds.__getitem__)

    def _time_peer(self, lam: float) -> float:
        elapsed, flow = self.solve_peer(lam)
        keep = self.path.critical_lambda[build_closure(self.problem).top] > lam
        earned = int(np.maximum(self.graph.gain, 0).sum())
        if abs(earned - flow.optimal_flow() - self.graph.value(keep, lam)) > 1e-9 * earned:
            raise BenchmarkError(f"OR-tools and the path disagree about the optimum at lambda {lam!r}.")
        return elapsed

    def solve_peer(self, lam: float) -> tuple[float, Any]:
        """Time one solve of OR-tools; the time to build its graph does not count."""
        with stage(f"OR-tools at lambda {lam:.6g}"):
            flow, origin, sink = build_flow(self.graph, lam)
            return solve_flow(flow, origin, sink), flow


# --- The rows -----------------------------------------------------------------------------------------------


def building(bench: Bench) -> Iterator[Row]:
    peer, own = bench.decision_path_seconds, bench.build_seconds
    row = partial(Row, "build")
    yield row("building the problem / decision_path", own / peer, 2.0, note=times(own, peer))
    whole = own + bench.time("importing the forest", partial(Forest.from_model, bench.grown.model))
    yield row("  the same, with importing the forest", whole / peer, note=times(whole, peer))


def against_peer(bench: Bench) -> Iterator[Row]:
    own, peers = bench.path_seconds, bench.peer_seconds
    peer = peers[bench.hardest]
    tried = ", ".join(f"{time_in_words(time)} at {lam:.5g}" for lam, time in peers.items())
    note = f"{times(own, peer)}; {len(bench.path)} points; OR-tools: {tried}"
    bar = PEER_BARS.get(bench.grown.name)
    yield Row("peer", "complete path / one OR-tools solve", own / peer, bar, note=note)
    with busy_cores(1):
        busy_peer = statistics.median(bench.solve_peer(bench.hardest)[0] for _ in range(3))
        busy_own = bench.time("the complete path beside another process", bench.problem.path)
    what = "  the ratio with one core kept busy / the quiet ratio"
    yield Row("peer", what, (busy_own / busy_peer) / (own / peer), 1.5, note=times(busy_own, busy_peer))


def against_training(bench: Bench) -> Iterator[Row]:
    own, peer = bench.path_seconds, bench.grown.training_seconds
    bar = TRAINING_BARS.get(bench.grown.name)
    yield Row("training", "complete path / training", own / peer, bar, note=times(own, peer))


def primal_dual(bench: Bench) -> Iterator[Row]:
    row = partial(Row, "primal-dual")
    path = bench.path
    middle = {"the median breakpoint": len(path) // 2, "about half the cost": bench.point_at(0.5)}
    own = _iteration_seconds(bench, float(path.lam[len(path) // 2]))
    for bar, what, peer in (
        (0.2, "building the problem", bench.build_seconds),
        (None, "decision_path", bench.decision_path_seconds),
    ):
        yield row(f"one primal-dual iteration / {what}", own / peer, bar, note=times(own, peer))
    for what, k in middle.items():
        lam = float(path.lam[k])
        with stage(f"primal-dual at lambda {lam:.6g}"):
            elapsed, pruning = seconds(partial(_primal_dual, bench.problem, lam))
        gap = bench.problem.certify(pruning).gap
        note = f"lambda {lam:.5g}, {_iterations(pruning)} iterations, {time_in_words(elapsed)}"
        yield row(f"gap of primal-dual at {what}", 100 * gap, 1.0, unit="%", note=note)


def _iteration_seconds(bench: Bench, lam: float, few: int = 2, many: int = 12) -> float:
    """Time a few iterations and many; the difference excludes the setup.

    If the clock is so noisy that the difference is not positive, use the larger average over all iterations.
    """

    def run(n: int) -> tuple[float, int]:
        solve = partial(_primal_dual, bench.problem, lam, gap=0.0, max_iterations=n)
        elapsed, pruning = median_seconds(solve, bench.repeats)
        return elapsed, _iterations(pruning)

    with stage("iterations of primal-dual"):
        (short, n_few), (long, n_many) = run(few), run(many)
    return (long - short) / (n_many - n_few) if long > short and n_many > n_few else long / n_many


def _primal_dual(problem: PruningProblem, lam: float, **options: Any) -> Pruning:
    """Solve without the warning about the gap, which is reported anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return problem.solve(lam, solver="primal-dual", **options)


def _iterations(pruning: Pruning) -> int:
    report: Any = pruning.report
    return int(report.iterations)


def memory(bench: Bench) -> Iterator[Row]:
    hardest = bench.hardest
    with TemporaryDirectory() as folder:
        own_file, peer_file = Path(folder, "forest.joblib"), Path(folder, "graph.npz")
        joblib.dump((replace(bench.forest, origin=None), bench.grown.X_val), own_file)
        np.savez(peer_file, **bench.graph._asdict())
        with stage("memory of the path"):
            own = in_fresh_process(path_of_file, str(own_file))
        with stage("memory of OR-tools"):
            peer = in_fresh_process(solve_file, str(peer_file), hardest)
    row = partial(Row, "memory")
    for what, bar, ours, theirs in (
        ("peak memory of the path / OR-tools' process", 0.4, own.peak, peer.peak),
        ("  the same, less what imports take", None, own.peak - own.imports, peer.peak - peer.imports),
    ):
        yield row(what, ours / theirs, bar, note=f"{ours / MB:.0f} MB / {theirs / MB:.0f} MB")


def doubling(bench: Bench) -> Iterator[Row]:
    row = partial(Row, "doubling")
    half_rows = bench.grown.X_val[: len(bench.grown.X_val) // 2]
    model = copy.copy(bench.grown.model)
    model.estimators_ = model.estimators_[: len(model.estimators_) // 2]
    model.n_estimators = len(model.estimators_)
    for what, problem in (
        ("rows", PruningProblem(bench.forest, half_rows)),
        ("trees", PruningProblem(Forest.from_model(model), bench.grown.X_val)),
    ):
        half = bench.time(f"the complete path with half the {what}", problem.path)
        full = bench.path_seconds
        yield row(f"complete path with twice the {what}", full / half, 2.4, note=times(full, half))


ROWS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "build": building,
    "peer": against_peer,
    "training": against_training,
    "primal-dual": primal_dual,
    "memory": memory,
    "doubling": doubling,
    "prediction": prediction,
    "early": early,
}
