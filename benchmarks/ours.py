"""Our side, as a process of its own runs it. Imports nothing of the peer's."""

from __future__ import annotations

import joblib

from budgetprune import PruningProblem


def path_of_file(file: str) -> int:
    """Compute the complete path of a stored forest on stored rows; return the number of its points."""
    forest, X = joblib.load(file)
    return len(PruningProblem(forest, X).path())
