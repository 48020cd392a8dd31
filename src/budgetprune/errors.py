"""Public exceptions. Each message states what is wrong, where, and how to fix it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from budgetprune.predictor import Decision


class BudgetPruneError(Exception):
    """Base class of all errors that this package raises."""


class InvalidInputError(BudgetPruneError, ValueError):
    """Invalid or inconsistent rows, labels, prices or parameters."""


class UnsupportedModelError(BudgetPruneError, TypeError):
    """A model, or a setting of a model, that cannot be converted to a `Forest` (or back)."""


class SolverError(BudgetPruneError, RuntimeError):
    """A solver failed to reach a valid solution."""


class DatasetError(BudgetPruneError, OSError):
    """A data set is missing, cannot be fetched, or does not match its description."""


class AcquisitionError(BudgetPruneError, RuntimeError):
    """A source could not be fetched.

    Attributes
    ----------
    source : str
    decision : Decision
        State before the failure; its cost includes the source that failed.
    """

    def __init__(self, message: str, source: str, decision: "Decision") -> None:
        super().__init__(message, source, decision)
        self.source = source
        self.decision = decision

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidAnswerError(AcquisitionError, InvalidInputError):
    """A source was fetched, but returned invalid values."""


class BudgetWarning(UserWarning):
    """A valid but probably unintended choice, such as a budget that buys nothing."""
