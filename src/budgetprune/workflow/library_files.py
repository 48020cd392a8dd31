"""Loading of fitted models from the files of the libraries that trained them.

Parsers of libraries crash or hang on some damaged files. So a file is first loaded in a separate process,
with limited time and memory. What the library writes there is checked and loaded in this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from budgetprune.errors import BudgetPruneError, InvalidInputError
from budgetprune.forest import ADAPTERS, Adapter, Reader, adapter_of_folder, adapter_of_suffix
from budgetprune.persistence import errors_name_file, is_container
from budgetprune.utils.limits import MIB
from budgetprune.workflow import probe
from budgetprune.workflow.tables import setting

PICKLES = (".joblib", ".pkl", ".pickle")

# Limits of the process that tries a file: far more than real models need, on a busy machine too. XGBoost's
# parser takes some 50 bytes for each byte of JSON.
SECONDS, SECONDS_PER_MIB = 60, 2
MEMORY, MEMORY_PER_BYTE = 2048 * MIB, 128


def load_library_file(file: Path, *, trust: bool = False) -> Any:
    """Load a fitted model; the suffix of the file says which library reads it.

    Parameters
    ----------
    file : Path
        ``.skops`` (scikit-learn; types that skops does not trust are refused), ``.txt`` (LightGBM),
        ``.json`` or ``.ubj`` (XGBoost), ``.cbm`` (CatBoost), ``.ydf`` (Yggdrasil, the bytes of
        ``serialize``), ``.onnx``, ``.joblib`` or ``.pkl``; the suffixes of other registered adapters; or the
        folder of a model that Yggdrasil saved.
    trust : bool
        Whether to load pickles, and to load other files without trying them first. Loading a pickle can run
        arbitrary code, so use this only for files whose author you trust.
    """
    suffix = file.suffix.lower()
    if file.is_dir():
        adapter = adapter_of_folder(file)
        if adapter is None:
            raise InvalidInputError(
                f"{file} is a folder, but not a model that Yggdrasil saved (it has no data_spec.pb); name "
                "the file of a model."
            )
    elif suffix in PICKLES:
        return _load_pickle(file, trust=trust)
    else:
        adapter = adapter_of_suffix(suffix)
    if adapter is None or adapter.reader is None:
        _refuse_budgetprune_model(file)
        known = (*(each for adapter in ADAPTERS for each in adapter.suffixes), *PICKLES)
        raise InvalidInputError(
            f"{file} has an unknown ending; rename it to one of {', '.join(f'*{each}' for each in known)}."
        )
    import_module(adapter.reader.PACKAGE)  # if it is not installed, the caller says so
    with errors_name_file(file):
        adapter.check_file(file)
        # Read once, so that the file cannot change between the trial and the loading.
        content = adapter.read_content(file)
        adapter.check_content(content)
    try:
        if not trust:
            content = _try_loading(file, adapter, adapter.reader, content)
            adapter.check_saved(content)
        return adapter.reader.load(content)
    except (BudgetPruneError, MemoryError):
        raise
    except Exception as error:  # a library may raise anything for a file that it cannot read
        _refuse(file, adapter, type(error).__name__, str(error), error)


def _refuse_budgetprune_model(file: Path) -> None:
    """Raise, with advice, if a file was written by budgetprune."""
    if not file.is_file():
        return
    if not is_container(file):
        return
    raise InvalidInputError(
        f"{file} is a model that budgetprune made, and prune is for models of other libraries. For another "
        "budget, run budgetprune rebudget if it is a staged model; a pruned model has to be fitted or pruned "
        "again from the original data."
    )


def _load_pickle(file: Path, *, trust: bool) -> Any:
    if not trust:
        raise InvalidInputError(
            f"{file} is a pickle, and loading it runs whatever code is in it. If you know who wrote it, add "
            f"{setting('trust', True)}; else ask for a .skops file, which holds no code."
        )
    import joblib

    try:
        return joblib.load(file)
    except MemoryError:
        raise
    except ModuleNotFoundError as error:
        raise InvalidInputError(f"{file} needs {error.name}, which is not installed.") from error
    except Exception as error:  # a pickle may raise anything
        _refuse(file, None, type(error).__name__, str(error), error)


def _refuse(
    file: Path, adapter: Adapter | None, kind: str, message: str, error: Exception | None = None
) -> NoReturn:
    """Raise with the reason why a library could not load a file."""
    explained = None if adapter is None else adapter.explain_load_error(kind, message)
    if explained is None:
        reason = " ".join(message.partition("Stack trace")[0].split())[:300].rstrip(". ")
        explained = f"cannot be loaded ({kind}: {reason})."
    raise InvalidInputError(f"{file} {explained}") from error


# --- Trial in a separate process --------------------------------------------------------------------------


def _try_loading(file: Path, adapter: Adapter, reader: Reader, content: bytes) -> bytes:
    """Load a file's content in a separate process; return the content to load here."""
    size = -(-len(content) // MIB)
    seconds, memory = SECONDS + SECONDS_PER_MIB * size, MEMORY + MEMORY_PER_BYTE * MIB * size
    # Run by its path, since importing budgetprune takes seconds; -P keeps other modules in its folder from
    # shadowing packages.
    command = [sys.executable, "-P", probe.__file__, str(reader.__file__), str(memory), str(seconds)]
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
    out_of_memory = f"loading it took more than {memory // MIB} MiB of memory"
    head, _, saved = done.stdout.partition(b"\n")
    if done.returncode or not head:
        if b"bad_alloc" in done.stderr or b"MemoryError" in done.stderr:
            _suspect(file, out_of_memory)
        _suspect(file, f"{reader.PACKAGE} crashed on it ({_exit_reason(done.returncode)})")
    answer = json.loads(head)
    if answer.get("error") == "MemoryError":
        _suspect(file, out_of_memory)
    if answer:
        _refuse(file, adapter, answer["error"], answer["message"])
    return saved or content


def _exit_reason(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status}"


def _suspect(file: Path, what: str) -> NoReturn:
    raise InvalidInputError(
        f"{file} is damaged or hostile: {what}. If you know who wrote it, {setting('trust', True)} skips "
        "this check, which is made in a separate process."
    )
