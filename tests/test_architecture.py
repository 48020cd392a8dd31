"""Architecture: who imports whom, and how modules are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "budgetprune"


def test_import_contracts_of_pyproject_hold(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0


def test_import_contracts_can_fail(monkeypatch, tmp_path):
    package = tmp_path / "layered"
    package.mkdir()
    for name, code in {"__init__": "", "low": "def f():\n    import layered.high\n", "high": ""}.items():
        (package / f"{name}.py").write_text(code)
    settings = tmp_path / "contracts.toml"
    settings.write_text(
        '[tool.importlinter]\nroot_package = "layered"\n'
        '[[tool.importlinter.contracts]]\nname = "layers"\ntype = "layers"\n'
        'containers = ["layered"]\nlayers = ["high", "low"]\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert lint_imports(config_filename=str(settings), no_cache=True) == 1


@pytest.mark.parametrize("folder", [PACKAGE, ROOT / "experiments" / "budgetprune_experiments"])
def test_module_names_carry_no_underscore(folder):
    names = [file.stem for file in folder.rglob("*.py")]
    assert names
    assert not [name for name in names if name.startswith("_") and name not in {"__init__", "__main__"}]
