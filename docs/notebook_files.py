"""Notebooks of the documentation: execution, storage and conversion to Markdown.

``python docs/notebook_files.py`` runs all notebooks in this process and stores their outputs. The site shows
the stored outputs, so that building it runs nothing.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook_files() -> list[Path]:
    """All notebooks, by name."""
    return sorted(FOLDER.glob("*.ipynb"))


def read_notebook(file: Path) -> dict[str, Any]:
    """Read a notebook of format 4."""
    notebook: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if notebook["nbformat"] != 4:
        raise ValueError(f"{file} has the format {notebook['nbformat']}; save it in format 4.")
    return notebook


def source_of(cell: dict[str, Any]) -> str:
    """Text of a cell, which may be stored as one string or as lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


# --- Execution ----------------------------------------------------------------------------------------------


def run_notebook(notebook: dict[str, Any], name: str = "notebook") -> dict[str, Any]:
    """Run the code cells in their order, in one namespace; return the notebook with new outputs.

    Warnings are errors. The last expression of a cell is shown, unless a semicolon follows, and so are
    figures of matplotlib.
    """
    namespace: dict[str, Any] = {"__name__": name}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = _run_cell(source_of(cell), namespace, f"{name}, cell {count}", count)
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells, "metadata": METADATA}


def _run_cell(source: str, namespace: dict[str, Any], place: str, count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source, place)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(tree, place, "exec"), namespace)
        value = None if last is None else eval(compile(last, place, "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count,
                "metadata": {},
                "data": _representations(value),
            }
        )
    outputs += [
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": image}} for image in _figures()
    ]
    return outputs


def _representations(value: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        html = value._repr_html_()
        shown["text/html"] = _lines(html)
    return shown


def _figures() -> Iterator[str]:
    """Draw and close all open figures of matplotlib, as PNG files in base64."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        image = io.BytesIO()
        figure = plt.figure(number)
        figure.savefig(image, format="png", dpi=80, bbox_inches="tight", metadata={"Software": None})
        plt.close(figure)
        yield base64.b64encode(image.getvalue()).decode()


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write_notebook(notebook: dict[str, Any], file: Path) -> None:
    """Write a notebook in the layout that Jupyter uses."""
    file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# --- Pages --------------------------------------------------------------------------------------------------


def notebook_page(notebook: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """Convert a notebook with outputs to a page of the site.

    Returns
    -------
    page : Markdown
    images : name of each image file, beside the page, to its content
    """
    parts: list[str] = []
    images: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        source = source_of(cell).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```py\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "image/png" in data:
                image = f"{name}-{len(images) + 1}.png"
                images[image] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![Figure {len(images)}]({image})")
            elif "text/html" in data:
                # An empty line would end the block of HTML.
                lines = "".join(data["text/html"]).splitlines()
                kept = "\n".join(line for line in lines if line.strip())
                parts.append(f'<div class="notebook-output">\n{kept}\n</div>')
            else:
                parts.append(f"```text\n{''.join(data['text/plain']).rstrip()}\n```")
    title, *rest = parts
    parts = [title, f"[Notebook to download]({name}.ipynb)", *rest]
    return "\n\n".join(parts) + "\n", images


def main() -> None:
    """Run all notebooks, and store their outputs."""
    import matplotlib

    matplotlib.use("Agg")
    for file in notebook_files():
        write_notebook(run_notebook(read_notebook(file), file.stem), file)
        print(f"Written: {file.name}")


if __name__ == "__main__":
    main()
