"""MkDocs hook: pages that are generated when the site is built.

- ``reference/commands.md``: the help of every command, from the command line application itself.
- ``reference/*.md``: one page per topic of the Python interface, filled from docstrings by mkdocstrings.
- ``contributing.md`` and ``changelog.md``: copies of the files at the root of the repository.
- ``notebooks/*.md``: the notebooks with their stored outputs; figures become files beside them.
- the home page gets links to the generated pages, which do not exist where the repository is browsed.

Nothing is written to ``docs/``: the pages exist only in the build.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# MkDocs loads this file by its path.
sys.path.insert(0, str(Path(__file__).parent))
from notebook_files import notebook_files, notebook_page, read_notebook

ROOT = Path(__file__).parents[1]
EMPTY_DESCRIPTION = re.compile(r'\s*–\s*<div class="doc-md-description">\s*</div>\s*</li>')


@dataclass(frozen=True)
class Topic:
    """One page of the Python reference: names of a module, all of ``__all__`` by default."""

    page: str
    title: str
    summary: str
    module: str = "budgetprune"
    names: tuple[str, ...] = ()

    def public_names(self) -> list[str]:
        """Names on the page: classes and functions only."""
        module = importlib.import_module(self.module)
        names = self.names or sorted(module.__all__, key=str.lower)
        return [name for name in names if _is_documented(getattr(module, name))]


TOPICS = (
    Topic(
        "workflow",
        "Models from tables",
        "Train a model on a table within a budget, or prune a fitted model; extra `pandas`.",
        names=(
            "fit_table",
            "prune_model",
            "predict_batches",
            "predict_files",
            "FitOptions",
            "PruneOptions",
            "BudgetModel",
        ),
    ),
    Topic(
        "staged-models",
        "Staged models",
        "Estimators that acquire features stage by stage and stop early.",
        names=("BudgetClassifier", "BudgetRegressor", "StagedTradeOff", "StagedPredictor"),
    ),
    Topic(
        "pruning-estimators",
        "Pruning estimators",
        "Estimators that prune an ensemble to a budget.",
        names=("BudgetPruneClassifier", "BudgetPruneRegressor", "TradeOff"),
    ),
    Topic(
        "pruning",
        "Pruning problems and paths",
        "The objects below the pruning estimators.",
        names=("Forest", "FeatureCosts", "PruningProblem", "PruningPath", "Pruning", "Certificate"),
    ),
    Topic(
        "prediction",
        "Prediction",
        "Predictors that acquire one source after the other.",
        names=("BudgetPredictor", "Decision", "Simulation"),
    ),
    Topic(
        "preprocessing",
        "Preprocessing",
        "Features as functions of raw columns.",
        module="budgetprune.preprocessing",
        names=("Preprocessing",),
    ),
    Topic(
        "errors",
        "Errors and warnings",
        "Exceptions and warnings of the package.",
        names=(
            "BudgetPruneError",
            "InvalidInputError",
            "UnsupportedModelError",
            "SolverError",
            "AcquisitionError",
            "BudgetWarning",
        ),
    ),
    Topic("model", "Model files", "A predictor with its path and its metadata.", "budgetprune.model"),
    Topic("report", "Reports", "Test-set reports as data and as HTML; extra `report`.", "budgetprune.report"),
    Topic("plotting", "Plots", "Displays in scikit-learn's style; extra `plot`.", "budgetprune.plotting"),
    Topic("refit", "Refits", "New values for the leaves of a pruned forest.", "budgetprune.refit"),
    Topic("ranking", "Ranking metrics", "AP@k and NDCG@k within queries.", "budgetprune.ranking"),
    Topic("baselines", "Baselines", "Competing methods as scikit-learn estimators.", "budgetprune.baselines"),
    Topic("datasets", "Data sets", "Data sets of the experiments.", "budgetprune.datasets"),
)


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (called by MkDocs)."""
    from mkdocs.structure.files import File

    for uri, content in (generated_pages() | notebook_pages()).items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link the reference on the home page (called by MkDocs)."""
    if page.file.src_uri != "README.md":
        return markdown
    words = "commands and Python (on the site)"
    if words not in markdown:
        raise ValueError(f"docs/README.md does not contain {words!r}, which is replaced by links.")
    markdown = markdown.replace(".ipynb)", ".md)")
    return markdown.replace(words, "[commands](reference/commands.md), [Python](reference/index.md)")


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Remove the dashes of parameters without a description (called by MkDocs)."""
    return EMPTY_DESCRIPTION.sub("</li>", html) if page.file.src_uri.startswith("reference/") else html


def generated_pages() -> dict[str, str]:
    """All generated pages: path in the site's sources, and Markdown."""
    pages = {f"reference/{topic.page}.md": _topic_page(topic) for topic in TOPICS}
    pages["reference/index.md"] = _overview()
    pages["reference/commands.md"] = "\n\n".join(["# Commands", *_commands()]) + "\n"
    for source, page in {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        pages[page] = text.replace("](docs/", "](")
    return pages


def notebook_pages() -> dict[str, str | bytes]:
    """Pages of the notebooks and their figures: path in the site's sources, and content."""
    found: dict[str, str | bytes] = {}
    for file in notebook_files():
        page, images = notebook_page(read_notebook(file), file.stem)
        found[f"notebooks/{file.stem}.md"] = page
        found |= {f"notebooks/{name}": image for name, image in images.items()}
    return found


def _topic_page(topic: Topic) -> str:
    parts = [f"# {topic.title}", topic.summary]
    parts += [f"::: {topic.module}.{name}" for name in topic.public_names()]
    return "\n\n".join(parts) + "\n"


def _overview() -> str:
    lines = [
        "# Reference",
        "",
        "Commands: [help of every command](commands.md). HTTP service: [serving](../serving.md).",
        "Files: [model files](../model-format.md); [files, caches and threads](../running.md).",
        "",
        "The Python interface, generated from docstrings:",
    ]
    for topic in TOPICS:
        lines += ["", f"## [{topic.title}]({topic.page}.md)", "", topic.summary]
        lines += ["", "| name | summary |", "| --- | --- |"]
        module = importlib.import_module(topic.module)
        for name in topic.public_names():
            summary = (inspect.getdoc(getattr(module, name)) or "").split("\n\n")[0]
            cell = " ".join(summary.split()).replace("|", "\\|").replace("``", "`")
            lines.append(f"| [`{name}`]({topic.page}.md#{topic.module}.{name}) | {cell} |")
    return "\n".join(lines) + "\n"


def _is_documented(thing: Any) -> bool:
    return inspect.isclass(thing) or inspect.isfunction(thing)


def _commands() -> Iterator[str]:
    """Help of each command, commands of groups included."""
    import typer.main

    from budgetprune.commands.app import build_app

    yield "Generated from the application itself: `budgetprune COMMAND --help` prints the same."
    yield from _command(typer.main.get_command(build_app()), "budgetprune")


def _command(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for inner, each in command.commands.items():
            yield from _command(each, f"{name} {inner}")
        return
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join([name, *(p.name.upper() for p in arguments), "[OPTIONS]"])
    lines = [f"## {name}", "", inspect.cleandoc(command.help or ""), "", "```text", usage, "```", ""]
    rows = [(f"`{p.name.upper()}`", p) for p in arguments]
    rows += [(", ".join(f"`{word}`" for word in [*p.opts, *p.secondary_opts]), p) for p in options]
    lines += ["| parameter | meaning |", "| --- | --- |"]
    for words, parameter in rows:
        meaning = " ".join((parameter.help or "").split()).replace("|", "\\|")
        lines.append(f"| {words} | {meaning}{_default(parameter)} |")
    yield "\n".join(lines)


def _default(parameter: Any) -> str:
    value = parameter.default
    if parameter.required or value is None or value is False or callable(value) or value in ([], ()):
        return ""
    # Defaults of options that depend on the machine (number of cores) are not shown.
    return f" Default: `{getattr(value, 'value', value)}`." if parameter.show_default else ""
