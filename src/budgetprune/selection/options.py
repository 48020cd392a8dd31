"""`SelectionOptions`: parameters of an estimator that selection depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SelectionOptions:
    """Parameters of an estimator that selection depends on; see `BudgetPruneClassifier`."""

    budget: float | None
    lam: float | None
    error: str
    loss: str | None
    refit: str | None
    ridge: Any
    counting: str
    slack: Any
    threshold: float | None
    tolerance: float | None
    solver: str
    verbose: bool
    class_weight: Any = None

    @property
    def fixed_slack(self) -> float:
        """The slack that was given, or 0 while it is still to be chosen."""
        return 0.0 if self.slack == "auto" else float(self.slack)

    @property
    def leaves_choices(self) -> bool:
        """Whether any setting is to be chosen by validation rows."""
        no_point = self.budget is None and self.lam is None
        return no_point or "auto" in (self.error, self.refit, self.ridge, self.slack)
