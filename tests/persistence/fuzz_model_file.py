"""Try to break the loader of model files: ``make fuzz``, or ``python -m tests.persistence.fuzz_model_file``.

Every case must be refused with InvalidInputError, or give a model that predicts. Cases run in child
processes with limited memory, so that a crash or a hang is seen; ``make fuzz`` takes kernels that check the
bounds of every array. The file that was being loaded when a child failed is kept.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.strategies import SearchStrategy

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.persistence import open_sections
from budgetprune.problem.acquisition import sources_used

from ..fuzzing import (
    ROOT,
    SECONDS_PER_CASE,
    limit_memory,
    odd_rows,
    parse_options,
    predict_odd_rows,
    report,
    walk,
)
from .model_files import load_model, save_model
from .mutations import accident, intents, originals

BATCH = 1000


# --- In a child ---------------------------------------------------------------------------------------------


def judge(file: Path) -> str | None:
    """Load a file and use what it holds; return why it was refused, or None. Other errors are findings."""
    faulthandler.dump_traceback_later(SECONDS_PER_CASE, exit=True)
    try:
        forest, costs, options = load_model(file)
    except InvalidInputError as error:
        before, name, reason = str(error).partition(f"{file} cannot be loaded: ")
        if before or not name:
            raise AssertionError("the message does not begin with the file") from error
        return reason
    else:
        scores = use(forest, costs)
        again = file.with_name("again")
        save_model(again, forest, costs, options)
        twin, twin_costs, twin_options = load_model(again)
        assert twin_options == options
        assert use(twin, twin_costs).tobytes() == scores.tobytes()
        return judge_sections(file)
    finally:
        faulthandler.cancel_dump_traceback_later()


def judge_sections(file: Path) -> str | None:
    """The same for what a predictor has no use for: the path, and how the model came about."""
    try:
        with open_sections(file) as stored:
            stored.get("about")
            path = stored.get("path")
    except InvalidInputError as error:
        return f"sections: {error}"
    if path is not None:
        walk(path.forest)
        for pruning in path:
            walk(pruning.forest)
            assert pruning.forest.n_splits == pruning.n_splits
    return None


def use(forest: Forest, costs: CostTable) -> np.ndarray:
    """Send a few odd rows through the model; return their scores."""
    scores = predict_odd_rows(forest)
    rows = odd_rows(forest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # huge values may overflow in sums and links
        check_predictor(BudgetPredictor(forest, costs), rows)
    assert sources_used(forest, costs, rows).shape == (7, costs.n_sources)
    return scores


def check_predictor(predictor: BudgetPredictor, rows: np.ndarray) -> None:
    """Compare what is decided step by step with the plain forest."""
    forest = predictor.forest
    simulation = predictor.simulate(rows)
    np.testing.assert_array_equal(simulation.label, forest.predict(rows))
    assert np.isfinite(simulation.cost).all()
    first = predictor.step({})
    assert not np.isnan([*first.lower, *first.upper]).any()
    if forest.categories is None:
        names = forest.feature_names or [f"x{k}" for k in range(forest.n_features)]
        row = dict(zip(names, rows[0].tolist(), strict=True))
        np.testing.assert_array_equal(predictor.decide(row).label, simulation.label[0])


def run_batch(first: int, n_cases: int, folder: Path) -> dict[str, int]:
    """Run some cases of either kind here; count the reasons for refusals, "" for models that loaded."""
    file = folder / "case"
    for original in originals():
        file.write_bytes(original)
        assert judge(file) is None
    return try_cases(first, n_cases, file, judge, accident, intents())


def try_cases(
    first: int,
    n_cases: int,
    file: Path,
    judge: Callable[[Path], str | None],
    accident: Callable[[int], bytes],
    intents: SearchStrategy[bytes],
) -> dict[str, int]:
    """Judge accidents and intents, half of each, in limited memory; count the reasons for refusals."""
    reasons: Counter[str] = Counter()

    def run(content: bytes) -> None:
        file.write_bytes(content)
        # Names and numbers differ from case to case, the kind of reason does not.
        reason = re.sub(r"'.*?'|\".*?\"|-?\d[\d.e+]*", "#", judge(file) or "")
        reasons[reason] += 1

    limit_memory()
    n_accidents = n_cases // 2
    for number in range(first, first + n_accidents):
        run(accident(number))
    others = settings(
        max_examples=n_cases - n_accidents,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    others(seed(first)(given(intents)(run)))()
    return dict(reasons)


# --- In the parent ------------------------------------------------------------------------------------------


def fuzz(
    n_cases: int,
    folder: Path,
    *,
    first: int = 0,
    module: str = "tests.persistence.fuzz_model_file",
) -> Counter[str]:
    """Run the cases in children; raise AssertionError, naming the file, if one of them finds something."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    reasons: Counter[str] = Counter()
    for start in range(first, first + n_cases, BATCH):
        n = min(BATCH, first + n_cases - start)
        command = [sys.executable, "-m", module, "--child"]
        command += ["--seed", str(start), "--cases", str(n), "--folder", str(folder)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            found = folder / f"found-{start}"
            shutil.copy(folder / "case", found)
            raise AssertionError(
                f"a child ended with {done.returncode} while it loaded {found}; again: python -m {module} "
                f"--seed {start} --cases {n}\n{done.stderr[-5000:]}"
            )
        reasons.update(json.loads(done.stdout))
        print(f"{start + n - first} of {n_cases} cases", file=sys.stderr)
    return reasons


def main(module: str, run_batch: Callable[[int, int, Path], dict[str, int]]) -> int:
    """Run a fuzzer from the command line; the exit code is 1 if it finds something."""
    options = parse_options(f"python -m {module}", module.rpartition(".")[2])
    if options.child:
        print(json.dumps(run_batch(options.seed, options.cases, options.folder)))
        return 0
    try:
        reasons = fuzz(options.cases, options.folder.resolve(), first=options.seed, module=module)
    except AssertionError as finding:
        print(finding, file=sys.stderr)
        return 1
    report(reasons, "loaded, and predicts")
    return 0


if __name__ == "__main__":
    sys.exit(main("tests.persistence.fuzz_model_file", run_batch))
