"""The page about extensions has a section for each of them, with the example that its test runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
TESTS = sorted((ROOT / "tests" / "extending").glob("test_*.py"))
SNIPPET = re.compile(r'^--8<-- "(tests/extending/\w+\.py):example"$', flags=re.MULTILINE)


def section(title: str) -> str:
    """Return the text of a section."""
    (found,) = re.findall(rf"^## {title}$(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return found


def example(file: str) -> str:
    """Return the example of a test, as the site includes it."""
    text = (ROOT / file).read_text(encoding="utf-8")
    (found,) = re.findall(r"# --8<-- \[start:example\]\n(.*?)# --8<-- \[end:example\]", text, flags=re.DOTALL)
    return found


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.stem)
def test_every_extension_has_its_section_with_the_example_of_its_test(test):
    title = test.stem.removeprefix("test_").replace("_", " ").capitalize()
    assert f"tests/extending/{test.name}" in SNIPPET.findall(section(title))
    assert "In the package:" in section(title)


def test_every_extension_point_has_a_test():
    tested = {test.stem.removeprefix("test_") for test in TESTS}
    assert tested >= {"loss", "solver", "error_estimate", "importer", "command"}
    assert {
        title.lower().replace(" ", "_") for title in re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    } == tested


def test_the_blocks_of_the_page_run(tmp_path):
    """In a process of its own, because extensions are registered per process."""
    blocks = re.findall(r"```py\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == len(TESTS)
    code = "\n".join(SNIPPET.sub(lambda match: example(match[1]), block) for block in blocks)
    file = tmp_path / "extensions.py"
    file.write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT)])}
    done = subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
