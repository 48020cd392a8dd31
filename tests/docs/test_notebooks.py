"""Notebooks of the documentation: their code runs without warnings, and the site shows their outputs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
try:
    import notebook_files
finally:
    sys.path.remove(str(DOCS))

NOTEBOOKS = notebook_files.notebook_files()


def test_three_notebooks_are_in_the_navigation():
    navigation = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    assert [file.stem for file in NOTEBOOKS] == ["credit", "lab-tests", "search-engine"]
    assert all(f"- notebooks/{file.stem}.md\n" in navigation for file in NOTEBOOKS)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_cells_run_as_they_are_stored(file):
    """Kinds of outputs are the stored ones; numbers may differ between machines."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    plt.close("all")  # figures that other tests left open
    stored = notebook_files.read_notebook(file)
    found = notebook_files.run_notebook(stored, file.stem)
    kinds = [
        [sorted(output.get("data", {"stream": ""})) for output in cell.get("outputs", ())]
        for notebook in (stored, found)
        for cell in notebook["cells"]
    ]
    assert kinds[: len(kinds) // 2] == kinds[len(kinds) // 2 :]
    shown = {kind for cell in kinds for output in cell for kind in output}
    assert {"image/png", "text/html"} <= shown
    assert found["metadata"] == stored["metadata"]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_stored_notebooks_say_where_their_data_comes_from(file):
    notebook = notebook_files.read_notebook(file)
    first = notebook_files.source_of(notebook["cells"][0])
    assert first.startswith("# ")
    assert "generated below; they are no real data" in first
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_pages_have_the_outputs(file):
    notebook = notebook_files.read_notebook(file)
    page, images = notebook_files.notebook_page(notebook, file.stem)
    assert images
    assert all(content.startswith(b"\x89PNG") and f"]({name})" in page for name, content in images.items())
    assert page.count("```py\n") == sum(cell["cell_type"] == "code" for cell in notebook["cells"])
    assert "<table" in page
    assert f"[Notebook to download]({file.name})" in page


def cells(*sources):
    found = [
        {"cell_type": "code", "id": str(k), "metadata": {}, "source": source, "outputs": []}
        for k, source in enumerate(sources)
    ]
    return {"cells": found, "nbformat": 4, "nbformat_minor": 5}


def test_outputs_of_cells():
    run = notebook_files.run_notebook(cells("a = 2\nprint(a)", ["a +\\\n", " 1"], "a + 1;", "None"))
    assert [[output["output_type"] for output in cell["outputs"]] for cell in run["cells"]] == [
        ["stream"],
        ["execute_result"],
        [],
        [],
    ]
    assert run["cells"][1]["outputs"][0]["data"] == {"text/plain": ["3"]}
    page, images = notebook_files.notebook_page(
        {**run, "cells": [{"cell_type": "markdown", "source": "# T"}, *run["cells"]]}, "t"
    )
    assert page.startswith("# T\n\n[Notebook to download](t.ipynb)\n\n```py\na = 2")
    assert "```text\n2\n```" in page
    assert images == {}
    json.dumps(run)


@pytest.mark.parametrize("source", ["import warnings\nwarnings.warn('old')", "1 / 0", "a ="])
def test_warnings_and_errors_stop_a_notebook(source):
    expected = SyntaxError if source == "a =" else (UserWarning, ZeroDivisionError)
    with pytest.raises(expected):
        notebook_files.run_notebook(cells(source))
