"""The errors a user can meet. Each message says what was wrong, where, and what to do."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from budgetprune.predictor import Decision


class BudgetPruneError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidInputError(BudgetPruneError, ValueError):
    """Rows, labels, prices or parameters that make no sense together."""


class UnsupportedModelError(BudgetPruneError, TypeError):
    """A model, or a setting of a model, that cannot be turned into a `Forest` (or back)."""


class SolverError(BudgetPruneError, RuntimeError):
    """A solver could not deliver what it promises."""


class DatasetError(BudgetPruneError, OSError):
    """A data set that is not there, cannot be fetched, or is not what it should be."""


class AcquisitionError(BudgetPruneError, RuntimeError):
    """A source could not be fetched.

    Attributes
    ----------
    source : str
    decision : Decision
        What was learned before; its cost includes the source that failed.
    """

    def __init__(self, message: str, source: str, decision: "Decision") -> None:
        super().__init__(message, source, decision)
        self.source = source
        self.decision = decision

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidAnswerError(AcquisitionError, InvalidInputError):
    """A source was fetched, but what came makes no sense."""


class BudgetWarning(UserWarning):
    """A budget that buys nothing, or another choice that is legal but hardly meant."""
