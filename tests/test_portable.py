"""`make test-portable`: its conditions, and the versions that it installs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from . import portable
from .portable import CONDITIONS, Condition, environment, needed, oldest_versions


def test_every_dependency_has_a_lower_bound():
    pins = oldest_versions()
    assert all(re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+(; .*)?", pin) for pin in pins)
    names = {pin.partition("==")[0] for pin in pins}
    assert {"numpy", "scikit-learn", "lightgbm", "xgboost", "pytest", "fastapi"} <= names
    assert "ruff" not in names, "the tests do not need it"


def test_extras_are_followed():
    extras = {"a": ["x>=1", "budgetprune[b,c]"], "b": ["budgetprune[d]"], "c": [], "d": [], "e": []}
    assert needed(extras, "a") == {"a", "b", "c", "d"}


def test_environment_of_a_condition():
    condition = Condition("", {"NPY_DISABLE_CPU_FEATURES": "X86_V4"}, threads=3, shuffle=7)
    chosen = environment(condition, (2, 4))
    assert chosen["NPY_DISABLE_CPU_FEATURES"] == "X86_V4"
    assert {chosen[name] for name in portable.THREADS} == {"3"}
    assert chosen["PYTHONHASHSEED"] == "7"
    assert "AVX512F" in environment(condition, (2, 0))["NPY_DISABLE_CPU_FEATURES"]


def test_unknown_conditions(capsys):
    with pytest.raises(SystemExit):
        portable.main(["vax"])
    assert "unknown conditions: vax; choose from sse" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name, each in CONDITIONS.items() if each.environment])
def test_libraries_accept_the_environment(name):
    """numpy refuses to be imported when told to disable what it cannot do without."""
    condition = CONDITIONS[name]
    if condition.needs not in {"", *portable._processor_flags()}:
        pytest.skip(f"this processor has no {condition.needs}")
    import numpy as np

    version = tuple(int(part) for part in np.__version__.split(".")[:2])
    code = "import numpy; a = numpy.eye(50) @ numpy.ones(50); assert a.sum() == 50"
    subprocess.run([sys.executable, "-c", code], env=environment(condition, version), check=True)
