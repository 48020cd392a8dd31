"""The errors a user can meet. Each message says what was wrong, where, and what to do."""


class BudgetPruneError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidInputError(BudgetPruneError, ValueError):
    """Rows, labels, prices or parameters that make no sense together."""


class UnsupportedModelError(BudgetPruneError, TypeError):
    """A model, or a setting of a model, that cannot be turned into a `Forest` (or back)."""


class SolverError(BudgetPruneError, RuntimeError):
    """A solver could not deliver what it promises."""


class BudgetWarning(UserWarning):
    """A budget that buys nothing, or another choice that is legal but hardly meant."""
