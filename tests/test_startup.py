"""What is imported, and when: nothing slow before it is needed."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "budgetprune"
GOLDEN = ROOT / "tests" / "golden"
LAZY = sorted(PACKAGE.rglob("__init__.pyi"))
# Slow to import, or large.
SLOW = ("joblib", "lightgbm", "matplotlib", "numba", "pandas", "scipy", "sklearn", "xgboost")


def imported(code, tmp_path):
    """Return those of SLOW that code imports in a process of its own."""
    report = f"import json, sys\nprint(json.dumps([name for name in {SLOW} if name in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def command(*arguments):
    return (
        "import contextlib\nfrom budgetprune import cli\n"
        f"with contextlib.suppress(SystemExit):\n    cli.main({[str(each) for each in arguments]})"
    )


def test_the_package_imports_nothing_slow(tmp_path):
    assert imported("import budgetprune", tmp_path) == []
    assert imported("import budgetprune\nprint(budgetprune.__version__)", tmp_path) == []


@pytest.mark.parametrize("arguments", [("--help",), ("fit", "--help"), ("--version",)], ids=" ".join)
def test_help_imports_nothing_slow(arguments, tmp_path):
    assert imported(command(*arguments), tmp_path) == []


@pytest.mark.parametrize("model", ["averaged-1", "boosted-1", "staged-3"])
def test_predictions_need_no_library_of_models(model, tmp_path):
    code = (
        "import numpy as np\nfrom budgetprune import BudgetPredictor\n"
        f"predictor = BudgetPredictor.load({str(GOLDEN / model) + '.budgetprune'!r})\n"
        "predictor.simulate(np.zeros((2, predictor.forest.n_features)))"
    )
    assert set(imported(code, tmp_path)) <= {"numba", "scipy"}


def test_the_command_predict_needs_no_library_of_models(tmp_path):
    (tmp_path / "rows.csv").write_text("age,TSH,T3,Größe,town\n30,1,1,1,\n", encoding="utf-8")
    code = command("predict", GOLDEN / "averaged-1.budgetprune", "rows.csv", "--out", "out.csv")
    assert set(imported(code, tmp_path)) <= {"numba", "pandas", "scipy"}
    assert (tmp_path / "out.csv").exists()


def test_the_service_needs_no_library_of_models(tmp_path):
    code = (
        "from budgetprune import BudgetPredictor\nfrom budgetprune.service import create_app\n"
        f"create_app(BudgetPredictor.load({str(GOLDEN / 'averaged-1.budgetprune')!r}))"
    )
    assert set(imported(code, tmp_path)) <= {"numba", "scipy"}


@pytest.mark.parametrize("stub", LAZY, ids=lambda stub: str(stub.parent.relative_to(PACKAGE.parent)))
def test_every_name_of_an_interface_can_be_imported(stub):
    package = importlib.import_module(".".join(stub.parent.relative_to(PACKAGE.parent).parts))
    assert package.__all__
    assert len(set(package.__all__)) == len(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError):
        _ = package.no_such_name
