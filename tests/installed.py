"""Check an installed package that has no extras: ``python tests/installed.py``, outside of a checkout.

Every kernel must be compiled, and the main steps must work: from a forest to a saved model and its decisions,
and a staged model.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import budgetprune
from budgetprune import BudgetClassifier, BudgetPredictor, Forest, PruningProblem

PACKAGE = Path(budgetprune.__file__).parent


def main() -> int:
    """Run all checks; the first failure raises an error."""
    n_modules = check_kernels()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    check_pruning(X, y)
    check_stages(X, y)
    print(f"budgetprune {budgetprune.__version__}: {n_modules} compiled modules, all checks passed")
    return 0


def check_kernels() -> int:
    """Check that each module of kernels is an extension; return their number."""
    headers = sorted(PACKAGE.rglob("*kernels.pxd"))
    assert headers, f"no declarations of kernels are installed in {PACKAGE}"
    for header in headers:
        name = ".".join(header.relative_to(PACKAGE.parent).with_suffix("").parts)
        found = importlib.util.find_spec(name)
        file = str(found and found.origin)
        assert file.endswith(tuple(EXTENSION_SUFFIXES)), f"{name} is not compiled: {file}"
    return len(headers)


def check_pruning(X: np.ndarray, y: np.ndarray) -> None:
    """Prune a forest, save it, and compare its decisions with its predictions."""
    forest = Forest.from_model(RandomForestClassifier(10, min_samples_leaf=5, random_state=0).fit(X, y))
    problem = PruningProblem(forest, X, y)
    path = problem.path(certify=True)
    assert len(path) > 1
    assert path.gap.max() <= 1e-9
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.budgetprune"
        BudgetPredictor(forest).save(file)
        predictor = BudgetPredictor.load(file)
    names = predictor.feature_names
    for row, label in zip(X[:20], predictor.predict(X[:20]), strict=True):
        assert predictor.decide(dict(zip(names, row, strict=True))).label == label


def check_stages(X: np.ndarray, y: np.ndarray) -> None:
    """Train a staged model within a budget."""
    model = BudgetClassifier(costs=np.array([1.0, 2, 2, 9, 9]), budget=4, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6


if __name__ == "__main__":
    sys.exit(main())
