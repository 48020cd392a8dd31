"""Architecture: who imports whom, how modules are named, and where their tests are."""

from __future__ import annotations

from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "budgetprune"
TESTS = ROOT / "tests"
# Folders of tests that mirror other folders than those of the package.
OTHER_SOURCES = {
    "benchmarks": ROOT / "benchmarks",
    "docs": ROOT / "docs",
    "experiments": ROOT / "experiments" / "budgetprune_experiments",
}
# Folders of tests without a source: extensions are registered from outside the package.
WITHOUT_SOURCE = {"extending"}


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


def misplaced(tests: Path, source: Path) -> list[str]:
    """Return test files whose folder does not exist in the source, or whose module is in another folder."""
    found = []
    for file in sorted(tests.rglob("test_*.py")):
        folder = source / file.parent.relative_to(tests)
        name = file.stem.removeprefix("test_")
        homes = {module.parent for module in source.rglob(f"{name}.py")}
        homes |= {package.parent for package in source.rglob(f"{name}/__init__.py")}
        if not folder.is_dir() or (homes and folder not in homes):
            found.append(str(file.relative_to(tests)))
    return found


@pytest.mark.parametrize(
    "folder",
    sorted({file.relative_to(TESTS).parts[0] for file in TESTS.glob("*/**/test_*.py")} - WITHOUT_SOURCE),
)
def test_tests_mirror_the_source(folder):
    assert not misplaced(TESTS / folder, OTHER_SOURCES.get(folder, PACKAGE / folder))


def test_misplaced_tests_are_found(tmp_path):
    for file in (
        "source/inner/low.py",
        "tests/test_low.py",
        "tests/inner/test_low.py",
        "tests/other/test_x.py",
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert misplaced(tmp_path / "tests", tmp_path / "source") == ["other/test_x.py", "test_low.py"]
