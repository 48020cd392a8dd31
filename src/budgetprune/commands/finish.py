"""Last steps of fit and prune: compare, write and print."""

from __future__ import annotations

from pathlib import Path

from budgetprune.commands.compared import show_compared
from budgetprune.commands.console import Console
from budgetprune.selection import LabelledRows
from budgetprune.workflow.making import Naming, Pruned, compare, keep, unspent


def finish(
    console: Console,
    out: Path,
    pruned: Pruned,
    naming: Naming,
    validation: LabelledRows,
    test: LabelledRows | None,
    *,
    target: str,
    model: str,
    n_train: int,
) -> None:
    """Write a pruned ensemble to a file and print its comparison."""
    if (remark := unspent(pruned)) is not None:
        console.note(remark)
    with console.stage("comparing with the full forest"):
        compared = compare(pruned, validation, test)
    result = keep(
        pruned,
        naming,
        compared,
        target=target,
        model=model,
        n_train=n_train,
        n_validation=len(validation),
    )
    with console.stage(f"writing {out}"):
        result.save(out)
    show_compared(console, result, out)
