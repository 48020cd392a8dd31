"""`BudgetModel`: the chosen predictor, its pruning path and its metadata."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.model.about import About
from budgetprune.path import PruningPath
from budgetprune.persistence import StoredSections, open_sections, save_sections
from budgetprune.predictor import BudgetPredictor


@dataclass(frozen=True, eq=False)
class BudgetModel:
    """A model, the alternatives that it was chosen from, and its metadata.

    Attributes
    ----------
    predictor : BudgetPredictor
        The chosen point, with refitted leaves, prices and settings. It can be used alone.
    path : PruningPath or None
        All points, with leaves as grown, and the unpruned forest. None if the file has no path.
    about : About or None
    """

    predictor: BudgetPredictor
    path: PruningPath | None = None
    about: About | None = None

    def __post_init__(self) -> None:
        if self.path is None:
            return
        own, whole = self.predictor.forest, self.path.forest
        if (
            _answers_and_features(own) != _answers_and_features(whole)
            or self.path.source_names != self.predictor.source_names
        ):
            raise InvalidInputError(
                "the path does not belong to the model: features, classes or sources differ."
            )

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the model to one file, without pickle. `BudgetPredictor.load` can read it as well."""
        further: dict[str, Any] = {"about": self.about, "path": self.path}
        if self.about is not None and (details := self.about.details()):
            further |= {"about": self.about.with_details({}), "details": details}
        present = {name: part for name, part in further.items() if part is not None}
        save_sections(file, self.predictor.sections() | present)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> BudgetModel:
        """Read a file written by `save` or `BudgetPredictor.save`. This is safe for untrusted files."""
        with open_sections(file) as stored:
            predictor = BudgetPredictor.from_sections(stored)
            return cls(predictor, stored.get("path"), about_of(stored))


def about_of(stored: StoredSections) -> About | None:
    """Return the metadata of an open model file, with its details; None if it has none."""
    about: About | None = stored.get("about")
    if "details" not in stored:
        return about
    stored.need("about")
    assert about is not None
    return about.with_details(stored["details"])


def _answers_and_features(forest: Forest) -> tuple[object, ...]:
    classes = None if forest.classes is None else forest.classes.tolist()
    return forest.n_features, forest.feature_names, classes
