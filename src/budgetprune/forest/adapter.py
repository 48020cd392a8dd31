"""`Adapter`: conversion between the models of one library and `Forest`, with the library's conventions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError, UnsupportedModelError

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

Importer = Callable[[Any], "Forest"]


class Reader(Protocol):
    """Module that loads a library's model files.

    It is first run in a separate process with limited time and memory. That process starts from the
    module's file and imports nothing of budgetprune, so the module must not do so either.
    """

    __file__: str | None
    PACKAGE: str  # imported before the limits are set, and named in messages

    def load(self, content: bytes, /) -> Any:
        """Load a model from the content of a file."""

    def save(self, model: Any, /) -> bytes:
        """Write a loaded model again; return b"" if the file can be loaded as it is.

        A model that the library has written itself is well-formed.
        """


class Adapter:
    """Conversion between the models of one library and `Forest`.

    A subclass sets `name` and overrides what its library has. `register_adapter` makes it known.

    Attributes
    ----------
    name : str
        Name of the library's Python package, such as "lightgbm".
    title : str
        Name of the library in messages.
    importers : mapping from str to function
        Function that converts a fitted model to a `Forest`, by the name of the model's class
        ("package.Class"). Names instead of classes avoid importing optional libraries. Exact names instead
        of `isinstance` exclude subclasses, which may predict differently.
    suffixes : tuple of str
        Suffixes of the library's model files, in lower case.
    reader : Reader or None
        Module that loads these files.
    """

    name: str
    title: str
    importers: Mapping[str, Importer] = {}
    suffixes: tuple[str, ...] = ()
    reader: Reader | None = None

    # --- Models ---------------------------------------------------------------------------------------------

    def export(self, forest: Forest, **options: Any) -> Any:
        """Convert a forest to a model of the library."""
        raise UnsupportedModelError(f"budgetprune does not write models of {self.title}.")

    def with_categories_of(self, forest: Forest, tables: Sequence[Any]) -> Forest:
        """Name the categories of a forest as tables do, if the library does not record their names."""
        return forest

    def is_ranking_model(self, model: Any) -> bool:
        """Whether a model was trained to rank rows within queries."""
        return False

    def check_origin(self, forest: Forest) -> None:
        """Raise unless a forest was imported from this library."""
        origin = forest.origin
        if type(origin).__module__.partition(".")[0] != self.name:
            raise UnsupportedModelError(
                f"only a forest that was imported from a model of {self.title} can be exported to it: the "
                f"origin is "
                f"{'missing' if origin is None else type(origin).__name__}."
            )

    def in_bag_counts(self, model: Any, n_rows: int) -> NDArray[np.int32]:
        """Count how often each training row is in each tree's bootstrap sample, (n_trees, n_rows)."""
        raise InvalidInputError(f"models of {self.title} do not record which rows each tree was grown on.")

    # --- Training -------------------------------------------------------------------------------------------

    def encode_labels(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return labels in the form that the library takes, and their classes if they became numbers."""
        return y, None

    def training(self, model: Any, X: Any) -> AbstractContextManager[None]:
        """Context in which a model is trained on X."""
        return nullcontext()

    def stored_name(self, name: str) -> str:
        """Name of a feature as the library stores it."""
        return name

    # --- Files ----------------------------------------------------------------------------------------------

    def is_model_folder(self, folder: Path) -> bool:
        """Whether the library saved a model as this folder."""
        return False

    def read_content(self, file: Path) -> bytes:
        """Read what `reader.load` takes from a file or a folder."""
        return file.read_bytes()

    def check_file(self, file: Path) -> None:
        """Raise InvalidInputError, with a message about "it", if a file must not be read."""

    def check_content(self, content: bytes) -> None:
        """Raise InvalidInputError, with a message about "it", if a file clearly has another format."""

    def check_saved(self, content: bytes) -> None:
        """Raise unless the trees in what `reader.save` wrote are valid.

        Some libraries use numbers of a model as indices without checking bounds. The file was loaded in
        another process; this check keeps invalid indices out of this one.
        """

    def explain_load_error(self, kind: str, message: str) -> str | None:
        """Return a message for an error of `reader.load`, to follow the file's name; None for the usual one.

        Parameters
        ----------
        kind : name of the exception's class
        message : its message
        """
        return None
