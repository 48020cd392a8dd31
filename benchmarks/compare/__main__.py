"""``python -m benchmarks.compare``: mean and spread over seeds, on test rows, at full cost."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare.data import DATA_SETS, DataSet
from benchmarks.compare.methods import Entry, forest_methods, lightgbm_methods
from benchmarks.compare.speed import speed_lines
from benchmarks.compare.staged import staged_methods
from benchmarks.measure import BenchmarkError
from budgetprune.utils.files import written_atomically
from budgetprune.utils.threads import let_idle_threads_sleep

Result = dict[str, Any]
# Pairs of methods whose costs are compared at equal accuracy: a reference, and a method.
RATIOS = [
    ("LightGBM, tuned CEGB", method)
    for method in ("ours on LightGBM", "ours, decided early", "ours, decided, slack", "staged", "cascade")
] + [
    ("cascade", "staged"),
    ("cascade, more rounds", "staged"),
    ("feature subsets", "staged, one stage for all"),
    ("ours, decided, slack", "staged"),
]
# Accuracies at which costs are compared if a data set has no `levels`: shares of the range between the
# reference's cheapest point and its best.
SHARES = (0.5, 0.7, 0.8, 0.9, 0.95)


def main(arguments: list[str] | None = None) -> int:
    """Run the comparisons that the result file lacks, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="repetitions (default 5)")
    parser.add_argument("--out", type=Path, default=Path("output/compare.json"), help="results; resumed")
    parser.add_argument("--only", help="only the data set of this name")
    parser.add_argument("--methods", nargs="+", help="only the methods of these names")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, to try the command")
    options = parser.parse_args(arguments)
    results: list[Result] = json.loads(options.out.read_text()) if options.out.exists() else []
    options.out.parent.mkdir(parents=True, exist_ok=True)
    chosen = [data for data in DATA_SETS if options.only in (None, data.name)]
    try:
        for seed in range(options.seeds):
            for data in chosen:
                run(data, seed, results, options, shrink=_shrink(options))
        timed = [line for data in chosen if data.is_timed for line in _timed(data, options)]
    except BenchmarkError as error:
        print(error, file=sys.stderr)
        return 1
    for data in chosen:
        print(table(data, [result for result in results if result["data"] == data.name]))
    print("\n".join(timed))
    return 0


def _shrink(options: Any) -> int:
    return 20 if options.quick else 1


def _timed(data: DataSet, options: Any) -> list[str]:
    """Measure the time of staged models once; a resumed run prints the stored measurement."""
    if options.methods and "staged" not in options.methods:
        return []
    kept = options.out.with_name(f"{options.out.stem}-speed.json")
    if not kept.exists():
        lines = speed_lines(data.divide(0, _shrink(options)))
        with written_atomically(kept) as handle:
            handle.write(json.dumps(lines, indent=1, ensure_ascii=False).encode())
    return [f"\n{data.name}, time of staged models", *json.loads(kept.read_text(encoding="utf-8"))]


def run(data: DataSet, seed: int, results: list[Result], options: Any, *, shrink: int) -> None:
    """Run all methods on one split of the rows; save each result when it is complete."""
    split, methods, out = None, options.methods, options.out
    for name, method in {**forest_methods(), **lightgbm_methods(data.grid), **staged_methods()}.items():
        if (methods and name not in methods) or name not in (data.methods or (name,)):
            continue
        if any((done["data"], done["seed"], done["method"]) == (data.name, seed, name) for done in results):
            continue
        split = split or data.divide(seed, shrink)
        for entry in method(split, data.budgets):
            cost, accuracy = entry.on(split.test)
            results.append(_record(data, seed, name, entry, cost, accuracy))
            print(
                f"{data.name}, seed {seed}, {name}, budget {entry.budget}: {accuracy:.4f} at {cost:.2f}",
                flush=True,
            )
        with written_atomically(out) as handle:
            handle.write(json.dumps(results, indent=1).encode())


def _record(data: DataSet, seed: int, name: str, entry: Entry, cost: float, accuracy: float) -> Result:
    return {
        "data": data.name,
        "seed": seed,
        "method": name,
        "budget": entry.budget,
        "cost": cost,
        "accuracy": accuracy,
        "seconds_growing": entry.seconds_growing,
        "seconds_pruning": entry.seconds_pruning,
        "note": entry.note,
    }


def table(data: DataSet, results: list[Result]) -> str:
    """Mean and standard deviation over seeds, one line per method and budget."""
    lines = [
        f"\n{data.name}: {data.n_train:,} training rows, {data.n_val:,} validation rows, unit costs, "
        f"full cost (decided cost where decided), test rows, "
        f"{len({result['seed'] for result in results})} seeds",
        f"{'method':24}{'budget':>8}{'cost':>16}{'accuracy':>20}{'pruning / growing':>20}",
    ]
    keys = dict.fromkeys((result["method"], result["budget"]) for result in results)
    for method, budget in keys:
        some = [result for result in results if (result["method"], result["budget"]) == (method, budget)]
        cost, accuracy = (np.array([result[name] for result in some]) for name in ("cost", "accuracy"))
        ratio = np.mean([result["seconds_pruning"] / result["seconds_growing"] for result in some])
        lines.append(
            f"{method:24}{'' if budget is None else budget:>8}"
            f"{cost.mean():>10.2f} ± {cost.std():.2f}{accuracy.mean():>13.4f} ± {accuracy.std():.4f}"
            f"{'' if np.isnan(ratio) or method.startswith('LightGBM') else f'{ratio:.2f}':>16}"
        )
    for rival, method in RATIOS:
        ratios = cost_ratios(results, rival, method)
        if ratios.size:
            known = ratios[np.isfinite(ratios)]
            span = f"mean {known.mean():.2f}, {known.min():.2f} to {known.max():.2f}; " if known.size else ""
            lines.append(
                f"cost of {method!r} at the accuracy of {rival!r} / its cost: {span}not reached "
                f"{ratios.size - known.size} of {ratios.size} times"
            )
    return "\n".join(lines + level_lines(data, results))


def cost_at(
    results: list[Result], method: str, seed: int, accuracy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Cost of a method at given accuracies, interpolated between its points; NaN if not reached."""
    points = np.array(
        [
            (result["accuracy"], result["cost"])
            for result in results
            if (result["seed"], result["method"]) == (seed, method)
        ]
    )
    if not points.size:
        return np.full(accuracy.size, np.nan)
    reached, cost = points[np.lexsort((-points[:, 0], points[:, 1]))].T
    # Leave out points that are no better than a cheaper one.
    is_best = reached > np.append(-np.inf, np.maximum.accumulate(reached)[:-1])
    return np.asarray(np.interp(accuracy, reached[is_best], cost[is_best], right=np.nan))


def level_lines(data: DataSet, results: list[Result]) -> list[str]:
    """Costs at the same accuracies, as ratios, on average over the seeds."""
    seeds = sorted({result["seed"] for result in results})
    lines = []
    for rival, method in RATIOS:
        levels = [
            own_levels(results, rival, seed) if data.levels is None else np.array(data.levels)
            for seed in seeds
        ]
        ratios = np.array(
            [
                cost_at(results, method, seed, level) / cost_at(results, rival, seed, level)
                for seed, level in zip(seeds, levels, strict=True)
            ]
        )
        if np.isfinite(ratios).any():
            shown = "  ".join(
                f"{level:.3f}: {np.mean(column):.2f} ± {np.std(column):.2f}"
                for level, column in zip(np.mean(levels, axis=0), ratios.T, strict=True)
            )
            lines.append(f"cost of {method!r} / cost of {rival!r} at accuracy  {shown}")
    return lines


def own_levels(results: list[Result], method: str, seed: int) -> NDArray[np.float64]:
    """Accuracies between a method's best point and its cheapest one of positive cost; NaN without any."""
    some = [
        result
        for result in results
        if (result["seed"], result["method"]) == (seed, method) and result["cost"] > 0
    ]
    if not some:
        return np.full(len(SHARES), np.nan)
    low = min(some, key=lambda result: (result["cost"], -result["accuracy"]))["accuracy"]
    high = max(result["accuracy"] for result in some)
    return np.asarray(low + np.array(SHARES) * (high - low))


def cost_ratios(results: list[Result], rival: str, method: str) -> NDArray[np.float64]:
    """Cost of a method relative to that of `rival` at the same accuracy, for each point of `rival` and seed.

    The cost is interpolated between two points of the method. If an accuracy is lower than at all points, the
    cost is that of the cheapest point; if it is higher than at all points, the cost is NaN.
    """
    ratios = []
    for seed in sorted({result["seed"] for result in results}):
        theirs = np.array(
            [
                (result["accuracy"], result["cost"])
                for result in results
                # A model that acquires nothing has cost 0, which gives no ratio.
                if (result["seed"], result["method"]) == (seed, rival) and result["cost"] > 0
            ]
        )
        if theirs.size and any((each["seed"], each["method"]) == (seed, method) for each in results):
            ratios.append(cost_at(results, method, seed, theirs[:, 0]) / theirs[:, 1])
    return np.concatenate(ratios) if ratios else np.empty(0)


if __name__ == "__main__":
    let_idle_threads_sleep()  # a busy core would slow LightGBM down tenfold otherwise
    sys.exit(main())
