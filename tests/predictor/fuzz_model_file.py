"""Try to break the loader of model files: ``make fuzz``, or ``python -m tests.predictor.fuzz_model_file``.

Every case must be refused with InvalidInputError, or give a model that predicts. Cases run in child
processes with limited memory, so that a crash or a hang is seen; there kernels check the bounds of every
array. The file that was being loaded when a child failed is kept.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, seed, settings

from budgetprune import InvalidInputError
from budgetprune.acquisition import sources_used
from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.forest._checks import INPUT_DTYPES, MISSING
from budgetprune.model._sections import about_of, path_of
from budgetprune.predictor._model_file import load_model, load_model_and_sections, save_model

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
from .mutations import GOLDEN, accident, intents

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
        again = file.with_name("again.budgetprune")
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
        (forest, costs, _), sections = load_model_and_sections(file)
        about_of(sections)
        path = path_of(sections, forest, costs.source_names)
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
    assert sources_used(forest, costs, odd_rows(forest)).shape == (7, costs.n_sources)
    return scores


def warm_up() -> None:
    """Have all kernels compiled before time and memory count."""
    for golden in GOLDEN:
        forest, costs, _ = load_model(golden)
        no_splits = np.zeros(forest.n_nodes, dtype=np.bool_)
        for dtype, missing in product(INPUT_DTYPES, MISSING):
            variant = replace(forest, input_dtype=dtype, missing=missing)
            use(variant, costs)
            use(variant.prune(no_splits), costs)


def run_batch(first: int, n_cases: int, folder: Path) -> dict[str, int]:
    """Run some cases of either kind here; count the reasons for refusals, "" for models that loaded."""
    file = folder / "case.budgetprune"
    reasons: Counter[str] = Counter()

    def run(content: bytes) -> None:
        file.write_bytes(content)
        # Names and numbers differ from case to case, the kind of reason does not.
        reason = re.sub(r"'.*?'|\".*?\"|-?\d[\d.e+]*", "#", judge(file) or "")
        reasons[reason] += 1

    warm_up()
    for golden in GOLDEN:
        shutil.copy(golden, file)
        assert judge(file) is None
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
    others(seed(first)(given(intents())(run)))()
    return dict(reasons)


# --- In the parent ------------------------------------------------------------------------------------------


def fuzz(n_cases: int, folder: Path, *, first: int = 0, check_bounds: bool = False) -> Counter[str]:
    """Run the cases in children; raise AssertionError, naming the file, if one of them finds something."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    if check_bounds:
        # Compiled kernels are kept apart from those of everyday, which look at no bounds.
        environment |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder / "kernels")}
    reasons: Counter[str] = Counter()
    for start in range(first, first + n_cases, BATCH):
        n = min(BATCH, first + n_cases - start)
        command = [sys.executable, "-m", "tests.predictor.fuzz_model_file", "--child"]
        command += ["--seed", str(start), "--cases", str(n), "--folder", str(folder)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            found = folder / f"found-{start}.budgetprune"
            shutil.copy(folder / "case.budgetprune", found)
            raise AssertionError(
                f"a child ended with {done.returncode} while it loaded {found}:\n{done.stderr[-5000:]}"
            )
        reasons.update(json.loads(done.stdout))
    return reasons


def main() -> None:
    options = parse_options(__doc__.splitlines()[0] if __doc__ else None, "fuzz")
    if options.child:
        print(json.dumps(run_batch(options.seed, options.cases, options.folder)))
        return
    reasons = fuzz(options.cases, options.folder.resolve(), first=options.seed, check_bounds=True)
    report(reasons, "loaded, and predicts")


if __name__ == "__main__":
    main()
