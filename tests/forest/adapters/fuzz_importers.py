"""Try to break the importers of models: ``make fuzz``, or ``python -m tests.forest.adapters.fuzz_importers``.

A damaged model must be refused with an error of the project, or give a forest that passes its checks and
predicts. Cases run in a child process with limited memory, which tells what it is about to do. The libraries
crash on some models, or damage their own memory: so a copy of the child loads these, and the child imports
what the library wrote there. Where processes cannot be copied, the child is started again after a crash of
the library. A crash of the importer is a finding. ``make fuzz`` takes kernels that check the bounds of
every array.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from budgetprune import Forest
from budgetprune.errors import BudgetPruneError
from budgetprune.forest.checks import check_forest
from budgetprune.forest.registry import find_adapter

from ...fuzzing import ROOT, SECONDS_PER_CASE, limit_memory, parse_options, predict_odd_rows, report
from .damaged import LightGBMStub, XGBoostStub, damaged_model, genuine_models

STUBS: dict[str, Any] = {"xgboost": XGBoostStub, "lightgbm": LightGBMStub}  # of libraries that may crash
_MOST_FEATURES = 10_000  # rows with more are left out: they take memory, and no importer

# --- In the child -------------------------------------------------------------------------------------------


def judge(model: Any) -> str:
    """Import a model and use the forest; return why it was refused, or "". All else is a finding."""
    try:
        forest = Forest.from_model(model)
    except BudgetPruneError as error:
        return str(error)
    check_forest(forest)
    if type(model) in (XGBoostStub, LightGBMStub):  # what can be imported, libraries may load
        adapter = find_adapter(model)
        assert adapter.reader is not None
        adapter.check_saved(adapter.reader.save(model))
    if forest.n_features <= _MOST_FEATURES:
        predict_odd_rows(forest)
    return ""


class CrashError(Exception):
    """A library did not survive making a model."""


def make_apart(kind: str, make: Callable[[], Any]) -> Any:
    """Make the stub of a model in a copy of this process, if there can be one.

    Libraries may also damage their memory and go on, so that something else fails later.
    """
    if not hasattr(os, "fork"):
        return make()
    out, into = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads that the copy does not need stay behind
        process = os.fork()
    if process == 0:
        signal.alarm(SECONDS_PER_CASE // 2)
        status = 1
        with contextlib.suppress(Exception), os.fdopen(into, "wb") as pipe:
            try:
                answer = (vars(make()), None)
            except Exception as error:
                answer = ({}, type(error).__name__)
            pickle.dump(answer, pipe)
            status = 0
        os._exit(status)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        content = pipe.read()
    if os.waitpid(process, 0)[1] != 0:
        raise CrashError
    fields, error = pickle.loads(content)
    if error is not None:
        raise ValueError(error)
    stub = object.__new__(STUBS[kind])
    vars(stub).update(fields)
    return stub


def run_cases(first: int, n_cases: int, tell: Any) -> None:
    """Run cases here, telling before each step what it is."""
    warnings.simplefilter("error")
    # numpy and the libraries warn of numbers that are too large; there may be any here.
    warnings.simplefilter("ignore", RuntimeWarning)
    warnings.simplefilter("ignore", UserWarning)
    for model in genuine_models():  # kernels are compiled before time and memory count
        assert judge(model) == ""
    limit_memory()
    for seed in range(first, first + n_cases):
        kind, make = damaged_model(seed)
        tell("loading", seed, kind)
        faulthandler.dump_traceback_later(SECONDS_PER_CASE, exit=True)
        try:
            model = make_apart(kind, make) if kind in STUBS else make()
        except CrashError:
            tell("done", seed, f"{kind}: the library crashed")
            continue
        except Exception:
            tell("done", seed, f"{kind}: the library refuses it")
            continue
        tell("importing", seed, kind)
        reason = judge(model)
        faulthandler.cancel_dump_traceback_later()
        # Names and numbers differ from case to case, the kind of reason does not.
        reason = re.sub(r"'.*?'|\".*?\"|-?\d[\d.e+]*|\(.*\)|\[.*\]", "#", reason)[:110]
        tell("done", seed, f"{kind}: {reason or 'imported, and predicts'}")


def child(first: int, n_cases: int) -> None:
    # Libraries print to standard output; only what is told belongs there.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(*what: Any) -> None:
        out.write(json.dumps(what) + "\n")
        out.flush()

    run_cases(first, n_cases, tell)


# --- In the parent ------------------------------------------------------------------------------------------


def fuzz(n_cases: int, folder: Path, *, first: int = 0) -> Counter[str]:
    """Run the cases in children; raise AssertionError, naming the seed, if one of them finds something."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "OMP_WAIT_POLICY": "passive",
        "OMP_NUM_THREADS": "1",
        "BUDGETPRUNE_NUM_THREADS": "1",
    }
    reasons: Counter[str] = Counter()
    seed, end = first, first + n_cases
    while seed < end:
        command = [sys.executable, "-m", "tests.forest.adapters.fuzz_importers", "--child"]
        command += ["--seed", str(seed), "--cases", str(end - seed)]
        step, kind = "starting", ""
        with (folder / "errors.txt").open("w+") as errors:
            with subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
            ) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    step, seed, kind = json.loads(line)
                    if step == "done":
                        reasons[kind] += 1
                        seed += 1
            if process.returncode == 0:
                break
            if step == "loading":  # it was the library; go on behind this case
                reasons[f"{kind}: the library crashed"] += 1
                seed += 1
                continue
            errors.seek(0)
            raise AssertionError(
                f"a child ended with {process.returncode} while {step} a model of {kind}; again with: "
                f"python -m tests.forest.adapters.fuzz_importers --seed {seed} --cases 1\n"
                f"{errors.read()[-5000:]}"
            )
    return reasons


def main() -> None:
    options = parse_options(__doc__.splitlines()[0] if __doc__ else None, "fuzz-importers")
    if options.child:
        child(options.seed, options.cases)
        return
    try:
        reasons = fuzz(options.cases, options.folder.resolve(), first=options.seed)
    except AssertionError as error:
        sys.exit(f"found: {error}")
    report(reasons, "imported, and predicts")


if __name__ == "__main__":
    main()
