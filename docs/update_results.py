"""Put figures and tables of `budgetprune reproduce` into docs/results.md: ``python docs/update_results.py``.

Other text stays; between ``<!-- NAME -->`` and ``<!-- /NAME -->`` everything is written anew from
the folder ``output/NAME``, if it is there.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "results.md"
OUTPUT = HERE.parent / "output"


def main() -> None:
    """Update the sections that have results."""
    page = PAGE.read_text()
    for name in re.findall(r"<!-- ([a-z0-9-]+) -->", page):
        if (OUTPUT / name / "result.json").exists():
            before, after = f"<!-- {name} -->", f"<!-- /{name} -->"
            start, stop = page.index(before) + len(before), page.index(after)
            page = f"{page[:start]}\n{section(name)}\n{page[stop:]}"
    PAGE.write_text(page)


def section(name: str) -> str:
    """The figure, what it was made with, and all tables of one experiment."""
    folder = OUTPUT / name
    result = json.loads((folder / "result.json").read_text())
    if result["quick"]:
        raise SystemExit(f"{folder} has a quick run; its numbers mean nothing.")
    shown = []
    if (folder / "figure.png").exists():
        (HERE / "results").mkdir(exist_ok=True)
        shutil.copyfile(folder / "figure.png", HERE / "results" / f"{name}.png")
        shown = [f"![{result['title']}](results/{name}.png)"]
    tables = (folder / "table.md").read_text().split("\n", 1)[1].strip()  # the page has its own headline
    seeds, minutes = len(result["seeds"]), result["seconds"] / 60
    made = f"{seeds} seeds, {minutes:.0f} minutes on {result['jobs']} cores, {result['date']}."
    return "\n\n".join([*shown, tables, f"*`budgetprune reproduce {name}`: {made}*"])


if __name__ == "__main__":
    main()
