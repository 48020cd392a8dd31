"""Run a page's blocks in their order, as a reader would type them."""

from __future__ import annotations

import re
import shlex
from typing import Any

from typer.testing import CliRunner

from budgetprune.commands.app import build_app


def run_blocks(page: str, name: str, outputs: list[str] | None = None) -> dict[str, Any]:
    """Run Python in one namespace, which is returned, and commands in the same folder.

    The outputs of commands are appended to `outputs`.
    """
    names: dict[str, Any] = {}
    for language, block in re.findall(r"```(python|console)\n(.*?)```", page, flags=re.DOTALL):
        if language == "python":
            exec(compile(block, name, "exec"), names)
            continue
        for line in block.splitlines():
            program, *words = shlex.split(line.removeprefix("$ "))
            assert program == "budgetprune"
            outcome = CliRunner().invoke(build_app(), words)
            assert outcome.exit_code == 0, (line, outcome.output, outcome.exception)
            if outputs is not None:
                outputs.append(outcome.output)
    return names
