"""Write docs/reference.md from docstrings and help texts: ``python docs/update_reference.py``."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

PAGE = Path(__file__).parent / "reference.md"
MODULES = {
    "budgetprune": "What most programs need.",
    "budgetprune.model": "What a model file holds: a model, the path it was chosen from, how it came about.",
    "budgetprune.report": "The page, and what is on it as data; extra `[report]`.",
    "budgetprune.plotting": "Pictures in scikit-learn's manner; extra `[plot]`.",
    "budgetprune.refit": "New values for the leaves of a pruned forest.",
    "budgetprune.ranking": "Measures of rankings within queries.",
    "budgetprune.baselines": "The rivals.",
    "budgetprune.datasets": "Data sets of the experiments.",
}


def reference() -> str:
    """The whole page."""
    head = (
        "# Reference\n\nWritten from help texts and docstrings by `docs/update_reference.py`. "
        "The service: [serving](serving.md). Files: [model files](model-format.md)."
    )
    return "\n\n".join([head, "## Commands", *commands(), *python()]) + "\n"


def commands() -> Iterator[str]:
    """Help of each command, those of groups too."""
    from budgetprune.commands.app import app

    yield from _command(typer.main.get_command(app), "budgetprune")


def _command(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for inner, each in command.commands.items():
            yield from _command(each, f"{name} {inner}")
        return
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join([name, *(p.name.upper() for p in arguments), "[OPTIONS]"])
    lines = [f"### {name}", "", inspect.cleandoc(command.help or ""), "", f"    {usage}", ""]
    rows = [(f"`{p.name.upper()}`", p) for p in arguments]
    rows += [(", ".join(f"`{word}`" for word in [*p.opts, *p.secondary_opts]), p) for p in options]
    lines += ["| | |", "| --- | --- |"]
    for words, parameter in rows:
        said = " ".join((parameter.help or "").split()).replace("|", "\\|")
        default = _default(parameter)
        lines.append(f"| {words} | {said}{default} |")
    yield "\n".join(lines)


def _default(parameter: Any) -> str:
    value = parameter.default
    if parameter.required or value is None or value is False or callable(value) or value in ([], ()):
        return ""
    # Enumerations are known by their values, and numbers of cores differ between machines.
    return f" Default: `{getattr(value, 'value', value)}`." if parameter.show_default else ""


def python() -> Iterator[str]:
    """Docstrings of all public names, module by module."""
    for name, words in MODULES.items():
        module = importlib.import_module(name)
        yield f"## `{name}`\n\n{words}"
        for public in sorted(module.__all__, key=str.lower):
            thing = getattr(module, public)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield from _documented(thing, public)


def _documented(thing: Any, name: str) -> Iterator[str]:
    yield f"### {name}\n\n```text\n{_signature(thing, name)}\n\n{inspect.getdoc(thing) or ''}\n```"
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        for method, function in sorted(vars(thing).items()):
            is_method = inspect.isfunction(function) or isinstance(function, classmethod)
            if is_method and not method.startswith("_"):
                bound = getattr(thing, method)
                summary = (inspect.getdoc(bound) or "").split("\n\n")[0].replace("\n", " ")
                yield f"- `{name}.{_signature(bound, method)}`: {summary}"


def _signature(thing: Any, name: str) -> str:
    try:
        found = str(inspect.signature(thing))
    except ValueError:
        return name
    # Where an object lives in memory says nothing.
    return name + re.sub(r" at 0x[0-9a-f]+", "", found.replace("(self, ", "(").replace("(self)", "()"))


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
