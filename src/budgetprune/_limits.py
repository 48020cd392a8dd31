"""How much one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass, fields

from budgetprune.errors import InvalidInputError

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for.

    Attributes
    ----------
    body : int
        Bytes of a request about one example.
    batch_rows : int
        Rows of a batch.
    batch_body : int
        Bytes of a batch. It is parsed in one go, so this also bounds how long other requests have to wait.
    """

    body: int = MIB
    batch_rows: int = 1000
    batch_body: int = 8 * MIB

    def __post_init__(self) -> None:
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit < 1:
                raise InvalidInputError(f"the limit {field.name} must be at least 1, not {limit}.")
