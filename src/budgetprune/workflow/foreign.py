"""Models that exist already, in the files of the libraries that trained them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from budgetprune.errors import BudgetPruneError, InvalidInputError
from budgetprune.forest.written import check_written
from budgetprune.persistence.container import MAGIC, blamed_on
from budgetprune.utils.archive import check_archive
from budgetprune.utils.limits import MIB
from budgetprune.workflow import probe as _probe

PICKLES = (".joblib", ".pkl", ".pickle")

# Limits of the process that tries a file: far more than real models need, on a busy machine too. XGBoost's
# parser takes some 50 bytes for each byte of JSON.
SECONDS, SECONDS_PER_MIB = 60, 2
MEMORY, MEMORY_PER_BYTE = 2048 * MIB, 128


def _refuse_own(file: Path) -> None:
    """Say what to do with a file that budgetprune wrote."""
    if not file.is_file():
        return
    with open(file, "rb") as handle:
        if handle.read(len(MAGIC)) != MAGIC:
            return
    raise InvalidInputError(
        f"{file} is a model that budgetprune made, and prune is for models of other libraries. For another "
        "budget, run budgetprune rebudget if it is a staged model; a pruned one has to be fitted or pruned "
        "again from what it was made of."
    )


def load_foreign(file: Path, *, trust: bool = False) -> Any:
    """Load a fitted model, by the ending of its name.

    Parsers of other libraries crash or hang on some damaged files. So a file is first loaded in a process of
    its own, with limited time and memory; what that process made of it is checked, and loaded here.

    Parameters
    ----------
    file : Path
        ``.skops`` (models of scikit-learn; types that skops does not vouch for are refused), ``.txt``
        (LightGBM), ``.json`` or ``.ubj`` (XGBoost), ``.joblib`` or ``.pkl``.
    trust : bool
        Whether pickles are loaded, and other files without trying them first. Unpickling a file runs whatever
        code is in it, so that a pickle is as good as a program: only for files of people who may run programs
        here.
    """
    ending = file.suffix.lower()
    if ending in PICKLES and not trust:
        raise InvalidInputError(
            f"{file} is a pickle, and loading it runs whatever code is in it. If you know who wrote it, add "
            "--trust; else ask for a .skops file, which holds no code."
        )
    if ending not in (*_probe.LIBRARIES, *PICKLES):
        _refuse_own(file)
        raise InvalidInputError(
            f"{file} has an ending that says nothing about what it holds; call it one of "
            f"{', '.join(f'*{each}' for each in (*_probe.LIBRARIES, *PICKLES))}."
        )
    if ending in PICKLES:
        return _load_pickle(file)
    library = _probe.LIBRARIES[ending]
    import_module(library)  # if it is not installed, the caller says so
    if library == "skops":
        with blamed_on(file):
            check_archive(file)
    # Read once: what is tried is what is loaded.
    content = file.read_bytes()
    try:
        _check_begin(file, library, content)
        if not trust:
            content = _tried(file, ending, content)
            if library in _probe.DUMPS:
                check_written(library, content)
        return _probe.LOADERS[library](content)
    except (BudgetPruneError, MemoryError):
        raise
    except Exception as error:  # libraries have many ways to say that a file is not theirs
        _refuse(file, type(error).__name__, str(error), error)


def _load_pickle(file: Path) -> Any:
    import joblib

    try:
        return joblib.load(file)
    except MemoryError:
        raise
    except ModuleNotFoundError as error:
        raise InvalidInputError(f"{file} needs {error.name}, which is not installed.") from error
    except Exception as error:  # a pickle may run into anything
        _refuse(file, type(error).__name__, str(error), error)


def _refuse(file: Path, kind: str, message: str, error: Exception | None = None) -> NoReturn:
    """Say why a library could not load a file."""
    if kind == _probe.UntrustedTypesError.__name__:
        raise InvalidInputError(
            f"{file} holds types that are not known to be harmless ({message}): they could run any code, so "
            "it is not loaded. Save the plain model of scikit-learn; LightGBM and XGBoost have files of "
            "their own, .txt and .json."
        ) from error
    reason = " ".join(message.partition("Stack trace")[0].split())[:300].rstrip(". ")
    raise InvalidInputError(f"{file} cannot be loaded ({kind}: {reason}).") from error


def _check_begin(file: Path, library: str, content: bytes) -> None:
    """Refuse what is plainly something else, or not complete; LightGBM ends the process for some files."""
    if library == "xgboost" and not content.startswith(b"{"):
        raise InvalidInputError(f"{file} is no model that XGBoost saved (Booster.save_model).")
    if library != "lightgbm":
        return
    if not content.startswith(b"tree\n"):
        raise InvalidInputError(f"{file} is no model that LightGBM saved (Booster.save_model).")
    sizes = re.search(rb"^tree_sizes=([0-9 ]+)$", content, flags=re.MULTILINE)
    begin, end = content.find(b"\nTree=0\n") + 1, content.find(b"end of trees\n")
    if sizes is None or end < 0 or end - begin != sum(map(int, sizes[1].split())):
        raise InvalidInputError(f"{file} is damaged, or not all of it is there; save or copy it again.")


# --- A process of its own -----------------------------------------------------------------------------------


def _tried(file: Path, ending: str, content: bytes) -> bytes:
    """Load a file's content in a process of its own; return the content to load here."""
    size = -(-len(content) // MIB)
    seconds, memory = SECONDS + SECONDS_PER_MIB * size, MEMORY + MEMORY_PER_BYTE * MIB * size
    # By its path, since importing budgetprune takes seconds; -P keeps its neighbours from shadowing others.
    command = [sys.executable, "-P", _probe.__file__, ending, str(memory), str(seconds)]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OMP_NUM_THREADS": "1",  # every thread reserves address space for its stack
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            command, input=content, env=environment, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        _suspect(file, f"loading it took more than {seconds} seconds")
    if done.returncode == -getattr(signal, "SIGXCPU", 0):
        _suspect(file, f"loading it took more than {seconds} seconds")
    took_all = f"loading it took more than {memory // MIB} MiB of memory"
    head, _, dump = done.stdout.partition(b"\n")
    if done.returncode or not head:
        if b"bad_alloc" in done.stderr or b"MemoryError" in done.stderr:
            _suspect(file, took_all)
        _suspect(file, f"{_probe.LIBRARIES[ending]} crashed on it ({_ending(done.returncode)})")
    answer = json.loads(head)
    if answer.get("error") == "MemoryError":
        _suspect(file, took_all)
    if answer:
        _refuse(file, answer["error"], answer["message"])
    return dump or content


def _ending(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status}"


def _suspect(file: Path, what: str) -> NoReturn:
    raise InvalidInputError(
        f"{file} is damaged or hostile: {what}. If you know who wrote it, --trust skips this check, which is "
        "made in a process of its own."
    )
