"""Error messages that name the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from budgetprune.errors import InvalidInputError


class MissingFileError(FileNotFoundError, InvalidInputError):
    """There is no such file; a FileNotFoundError whose message is a sentence."""

    def __str__(self) -> str:
        return f"{self.filename} cannot be read: {self.strerror}."


@contextmanager
def errors_name_file(file: str | os.PathLike[str]) -> Iterator[None]:
    """Begin the message of each InvalidInputError with the name of the file that cannot be loaded."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(error.errno, error.strerror, os.fspath(file)) from None
    except InvalidInputError as error:
        raise InvalidInputError(f"{os.fspath(file)} cannot be loaded: {error}") from None
