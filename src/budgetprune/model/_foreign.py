"""Models that exist already, in the files of the libraries that trained them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from budgetprune._archive import check_archive
from budgetprune.errors import InvalidInputError
from budgetprune.predictor._model_container import blamed_on

# What holds the nodes of scikit-learn's trees. Loading these runs no code of the file, and importing a model
# checks that the nodes make trees.
TRUSTED = ("sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor")

PICKLES = (".joblib", ".pkl", ".pickle")


def load_foreign(file: Path, *, trust: bool = False) -> Any:
    """Load a fitted model, by the ending of its name.

    Parameters
    ----------
    file : Path
        ``.skops`` (models of scikit-learn; types that skops does not vouch for are refused), ``.txt``
        (LightGBM), ``.json`` or ``.ubj`` (XGBoost), ``.joblib`` or ``.pkl``.
    trust : bool
        Whether pickles are loaded. Unpickling a file runs whatever code is in it, so that a pickle is as good
        as a program: only for files of people who may run programs here.
    """
    ending = file.suffix.lower()
    if ending in PICKLES and not trust:
        raise InvalidInputError(
            f"{file} is a pickle, and loading it runs whatever code is in it. If you know who wrote it, add "
            "--trust; else ask for a .skops file, which holds no code."
        )
    readers: dict[str, Callable[[Path], Any]] = {
        ".skops": _skops,
        ".txt": _lightgbm,
        ".json": _xgboost,
        ".ubj": _xgboost,
    } | dict.fromkeys(PICKLES, _pickle)
    if ending not in readers:
        raise InvalidInputError(
            f"{file} has an ending that says nothing about what it holds; call it one of "
            f"{', '.join(f'*{each}' for each in readers)}."
        )
    try:
        return readers[ending](file)
    except (InvalidInputError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        # Those of this function's own imports are for the caller; a pickle may want any module.
        if ending in PICKLES:
            raise InvalidInputError(f"{file} needs {error.name}, which is not installed.") from error
        raise
    except Exception as error:  # libraries have many ways to say that a file is not theirs
        reason = " ".join(str(error).partition("Stack trace")[0].split())[:300].rstrip(". ")
        raise InvalidInputError(f"{file} cannot be loaded ({type(error).__name__}: {reason}).") from error


def _skops(file: Path) -> Any:
    from skops import io

    with blamed_on(file):
        check_archive(file)
    strangers = sorted(set(io.get_untrusted_types(file=file)) - set(TRUSTED))
    if strangers:
        raise InvalidInputError(
            f"{file} holds types that nobody vouches for ({', '.join(strangers[:5])}): they could run any "
            "code, so it is not loaded. Save the plain model of scikit-learn; LightGBM and XGBoost have "
            "files of their own, .txt and .json."
        )
    return io.load(file, trusted=list(TRUSTED))


def _pickle(file: Path) -> Any:
    import joblib

    return joblib.load(file)


def _lightgbm(file: Path) -> Any:
    import lightgbm

    # The library itself would print to standard output, and end the process for some files.
    text = file.read_text(encoding="utf-8")
    if not text.startswith("tree\n"):
        raise InvalidInputError(f"{file} is no model that LightGBM saved (Booster.save_model).")
    sizes = re.search(r"^tree_sizes=([0-9 ]+)$", text, flags=re.MULTILINE)
    begin, end = text.find("\nTree=0\n") + 1, text.find("end of trees\n")
    if sizes is None or end < 0 or len(text[begin:end].encode()) != sum(map(int, sizes[1].split())):
        raise InvalidInputError(f"{file} is damaged, or not all of it is there; save or copy it again.")
    return lightgbm.Booster(model_str=text)


def _xgboost(file: Path) -> Any:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(file)
    return booster
