"""`ServedModel`: a predictor, and what the service tells about it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from budgetprune.errors import InvalidInputError
from budgetprune.model import About, about_of
from budgetprune.persistence import open_sections
from budgetprune.predictor import BudgetPredictor
from budgetprune.service.processes import nameless_file


@dataclass(frozen=True)
class OfferedFile:
    """A model file that clients may download.

    Attributes
    ----------
    descriptor : int
        Of a copy that nothing changes.
    n_bytes : int
    name : str
        Name of the file, without its suffix.
    has_budgets : bool
        Whether models for other budgets can be made of it.
    """

    descriptor: int
    n_bytes: int
    name: str
    has_budgets: bool


@dataclass(frozen=True)
class ServedModel:
    """A model for `run` and `create_app`, with what clients may know about it.

    Parameters
    ----------
    predictor : BudgetPredictor
    about : About, optional
        Origin of the model, for ``GET /v1/model``.
    unit : str
        Unit of the prices.
    offered : OfferedFile, optional
        Model file that clients may download; see `load`.
    """

    predictor: BudgetPredictor
    about: About | None = None
    unit: str = ""
    offered: OfferedFile | None = None

    @classmethod
    def load(cls, file: str | os.PathLike[str], *, unit: str = "", offer: bool = False) -> ServedModel:
        """Read a model file.

        Parameters
        ----------
        file : path
        unit : str
            Unit of the prices.
        offer : bool
            Whether clients may download the file, and models for other budgets that are made of it.

        Raises
        ------
        InvalidInputError, OSError
        """
        content = Path(file).read_bytes() if offer else b""
        before = os.stat(file)
        with open_sections(file) as stored:
            predictor = BudgetPredictor.from_sections(stored)
            about, has_path = about_of(stored), "path" in stored
            is_staged = "staged" in stored
        unit = unit or ("" if about is None else about.unit)
        if not offer:
            return cls(predictor, about, unit)
        after = os.stat(file)
        if (before.st_mtime_ns, before.st_ino) != (after.st_mtime_ns, after.st_ino) or after.st_size != len(
            content
        ):
            raise InvalidInputError(f"{os.fspath(file)} changed while it was read; start again.")
        name = Path(file).name.removesuffix(".budgetprune")
        offered = OfferedFile(nameless_file(content), len(content), name, has_path or is_staged)
        return cls(predictor, about, unit, offered)

    @classmethod
    def of(cls, model: BudgetPredictor | ServedModel) -> ServedModel:
        """Return the model itself, or one about which nothing else is known."""
        return model if isinstance(model, ServedModel) else cls(model)
