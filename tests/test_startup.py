"""What is imported, and when: nothing slow before it is needed."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "budgetprune"
GOLDEN = ROOT / "tests" / "golden"
LAZY = sorted(PACKAGE.rglob("__init__.pyi"))
# Slow to import, or large.
SLOW = (
    "joblib",
    "lightgbm",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
    "xgboost",
)
MODELS = ["averaged-1", "boosted-1", "staged-3", "staged_regression-3"]


def imported(code, tmp_path, names=SLOW):
    """Return those of some modules that code imports in a process of its own."""
    report = f"import json, sys\nprint(json.dumps([name for name in {names} if name in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def commands(*lines):
    return "import contextlib\nfrom budgetprune import cli\n" + "".join(
        f"with contextlib.suppress(SystemExit):\n    cli.main({[str(each) for each in arguments]})\n"
        for arguments in lines
    )


def test_the_package_imports_not_even_numpy(tmp_path):
    code = "import budgetprune\nprint(budgetprune.__version__)"
    assert imported(code, tmp_path, ("numpy", *SLOW)) == []


def test_help_imports_not_even_numpy(tmp_path):
    code = commands(["--help"], ["fit", "--help"], ["predict", "--help"], ["--version"])
    assert imported(code, tmp_path, ("numpy", *SLOW)) == []


def test_predictions_import_nothing_slow(tmp_path):
    code = "import numpy as np\nfrom budgetprune import BudgetPredictor\n" + "".join(
        f"predictor = BudgetPredictor.load({str(GOLDEN / model) + '.budgetprune'!r})\n"
        "X = np.zeros((2, predictor.forest.n_features))\n"
        "predictor.predict(X)\n"
        "if predictor.forest.is_classifier:\n    predictor.predict_proba(X)\n"
        "predictor.simulate(X)\n"
        "nothing = dict.fromkeys(predictor.feature_names)\n"
        "predictor.decide(nothing)\n"
        "predictor.decide(lambda source: {name: None for name in predictor.features_of(source)})\n"
        "predictor.step({})\n"
        for model in MODELS
    )
    assert imported(code, tmp_path) == []


def test_the_command_predict_imports_nothing_slow_but_pandas(tmp_path):
    """Pandas itself imports pyarrow where it is installed."""
    (tmp_path / "rows.csv").write_text("age,TSH,T3,Größe,town,x0,x1,x2\n30,1,1,1,,1,1,1\n", encoding="utf-8")
    lines = {
        f"{model}{''.join(options)}.csv": ["predict", GOLDEN / f"{model}.budgetprune", "rows.csv", *options]
        for model in MODELS
        for options in ([], ["--full"])
    }
    code = commands(*([*line, "--out", out] for out, line in lines.items()))
    assert set(imported(code, tmp_path)) <= {"pandas", "pyarrow"}
    assert all((tmp_path / out).exists() for out in lines)


@pytest.mark.parametrize("model", ["averaged-1", "staged-3"])
def test_the_service_imports_nothing_slow(model, tmp_path):
    """Python lists the imports of the whole process; a decision and a batch are made meanwhile."""
    log = tmp_path / "imports.txt"
    file = GOLDEN / f"{model}.budgetprune"
    command = [sys.executable, "-X", "importtime", "-m", "budgetprune", "serve", str(file), "--port", "0"]
    with (
        log.open("w") as imports,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=imports, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            names = json.load(urlopen(f"{url}/v1/model"))["features"]
            values = dict.fromkeys(each["name"] for each in names)
            post(f"{url}/v1/decide", {"values": values})
            post(f"{url}/v1/step", {"values": {}})
            post(f"{url}/v1/batch/decide", {"rows": [{"values": values}]})
        finally:
            process.terminate()
    found = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in log.read_text().splitlines()}
    assert "budgetprune" in found
    assert not found & set(SLOW)


def post(url, body):
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as response:
        assert response.status == 200


@pytest.mark.parametrize("stub", LAZY, ids=lambda stub: str(stub.parent.relative_to(PACKAGE.parent)))
def test_every_name_of_an_interface_can_be_imported(stub):
    package = importlib.import_module(".".join(stub.parent.relative_to(PACKAGE.parent).parts))
    assert package.__all__
    assert len(set(package.__all__)) == len(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError):
        _ = package.no_such_name
