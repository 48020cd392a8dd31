"""Parts that all fuzzers share: options, limits, and a slow look at a forest that passed."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from budgetprune.forest import Forest

ROOT = Path(__file__).parents[1]
SECONDS_PER_CASE = 30  # far more than any needs, even on a busy machine
MEMORY = 2**29  # that a child may take on top of what it has when cases begin

# Numbers at the edges of what an index, a size or a count may be.
INTEGERS = [
    -(2**63),
    -(2**31),
    -65,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    63,
    64,
    2**16,
    2**31 - 1,
    2**32,
    2**63 - 1,
]
FLOATS = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.0, 0.5, 3.0, 5e-324, 1e-35, 1e300, -1e308]


def parse_options(description: str | None, folder: str) -> Any:
    """Read the command line of a fuzzer.

    Case `i` of a run is the only case of a run with the seed `seed + i`.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case; others give other cases")
    parser.add_argument("--folder", type=Path, default=ROOT / "output" / folder, help="for files of the run")
    parser.add_argument("--child", action="store_true", help="run all in this process")
    return parser.parse_args()


def report(reasons: Mapping[str, int], fine: str) -> None:
    """Print how often each reason was given, `fine` for cases that passed."""
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print(f"{count:6d}  {reason or fine}")
    print(f"{sum(Counter(reasons).values())} cases, nothing found")


def limit_memory() -> None:
    if sys.platform == "linux":
        import resource

        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = n_pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def odd_rows(forest: Forest) -> np.ndarray:
    odd = [0.0, 1.0, -1.0, 2.5, 40.0, 1e30, -1e30, 31.0, 64.0]
    if forest.missing != "forbidden":
        odd.append(np.nan)
    return np.resize(odd, (7, forest.n_features))


def predict_odd_rows(forest: Forest) -> np.ndarray:
    """Walk the trees as slowly and obviously as can be, then send a few odd rows through; return scores."""
    walk(forest)
    rows = odd_rows(forest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # huge values may overflow in sums and links
        scores = forest.scores(rows)
        assert forest.predict(rows).shape == (7,)
        if forest.classes is not None:
            assert forest.predict_proba(rows).shape == (7, forest.classes.size)
    return scores


def walk(forest: Forest) -> None:
    for start, end in zip(forest.tree_start[:-1].tolist(), forest.tree_start[1:].tolist(), strict=True):
        assert end_of_subtree(forest, start, -1) == end


def end_of_subtree(forest: Forest, h: int, parent: int) -> int:
    assert forest.parent[h] == parent
    if forest.feature[h] < 0:
        assert forest.left[h] == forest.right[h] == -1
        return h + 1
    assert 0 <= forest.feature[h] < forest.n_features
    assert forest.left[h] == h + 1
    assert forest.right[h] == end_of_subtree(forest, h + 1, h)
    return end_of_subtree(forest, int(forest.right[h]), h)
