"""Render a `Summary` as a self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from importlib import resources
from typing import NamedTuple

from budgetprune.report.content import to_json
from budgetprune.report.numbers import amount, pluralize
from budgetprune.report.summary import StagedSummary, Summary
from budgetprune.utils.files import written_atomically


class _Page(NamedTuple):
    """Files of one kind of page; scripts in order of dependency."""

    template: str
    scripts: tuple[str, ...]
    styles: tuple[str, ...]


_SHARED_SCRIPTS = (
    "elements.js",
    "labels.js",
    "charts.js",
    "panels.js",
    "probabilities.js",
    "choice.js",
    "compare.js",
)
_PRUNED = _Page(
    "report.html.jinja",
    (*_SHARED_SCRIPTS, "curve.js", "pruned.js", "tree.js", "main.js"),
    ("style.css",),
)
_STAGED = _Page(
    "staged.html.jinja",
    (*_SHARED_SCRIPTS, "staged_curve.js", "staged.js", "main.js"),
    ("style.css", "staged.css"),
)
# JSON inside HTML must not close its element or open a comment, for any feature name.
_UNSAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def write_page(summary: Summary | StagedSummary, file: str | os.PathLike[str]) -> None:
    """Write the page to a file atomically."""
    page = render(summary).encode()
    with written_atomically(file) as handle:
        handle.write(page)


def render(summary: Summary | StagedSummary) -> str:
    """Render the page as HTML.

    All text from data is escaped. The content security policy forbids connections and allows only these
    scripts, by hash.
    """
    try:
        import jinja2
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a report needs jinja2 and plotly: pip install 'budgetprune[report]'", name=error.name
        ) from error
    page = _STAGED if isinstance(summary, StagedSummary) else _PRUNED
    scripts = {
        "theme": _part("theme.js"),
        "plotly": get_plotlyjs(),
        "page": '"use strict";\n{\n' + "\n".join(map(_part, page.scripts)) + "\n}",
    }
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_part),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["amount"] = amount
    environment.globals["pluralize"] = pluralize
    environment.filters["tied"] = _tied
    environment.filters["score"] = _score_format(summary)
    content = to_json(summary)
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return environment.get_template(page.template).render(
        summary=content,
        data=Markup(data.translate(_UNSAFE)),
        policy=_policy(scripts.values()),
        style=Markup("\n".join(map(_part, page.styles))),
        scripts={name: Markup(script) for name, script in scripts.items()},
    )


def _part(name: str) -> str:
    return resources.files("budgetprune.report").joinpath("page", name).read_text(encoding="utf-8")


def _tied(text: str) -> str:
    """Join numbers with their signs and units by non-breaking spaces."""
    return text.replace(" %", "\u00a0%").replace("± ", "±\u00a0")


def _score_format(summary: Summary | StagedSummary) -> Callable[[float], str]:
    is_share = summary.task == "classification"
    return lambda score: f"{100 * score:.1f} %" if is_share else f"{score:.3f}"


def _policy(scripts: Iterable[str]) -> str:
    """Return a content security policy for these scripts; Plotly's export needs blob images."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
