"""Our side of a memory measurement, run in a separate process. Imports nothing of the peer."""

from __future__ import annotations

import joblib

from budgetprune import PruningProblem


def path_of_file(file: str) -> int:
    """Compute the complete path of a stored forest on stored rows; return the number of its points."""
    forest, X = joblib.load(file)
    return len(PruningProblem(forest, X).path())
