"""Output of ``budgetprune predict``: a sentence, and records for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.commands.comparison import with_unit

if TYPE_CHECKING:
    import pandas as pd

    from budgetprune.model import About


def records_of(written: pd.DataFrame) -> Any:
    """Return rows in full precision; missing values are None."""
    return written.astype(object).where(written.notna(), None).to_dict(orient="records")


def summary_of(predictions: dict[str, Any], about: About | None) -> str:
    """Return the costs of predictions in one sentence."""
    cost, n_rows = predictions["cost"], len(predictions["cost"])
    n_open = n_rows - int(np.count_nonzero(predictions["decided"]))
    average, most = (with_unit(f"{amount:.4g}", about) for amount in (np.mean(cost), np.max(cost)))
    return f"{n_rows:,} predictions cost {average} on average, and at most {most}{undecided(n_open)}."


def undecided(n_open: int) -> str:
    """Return the part of the sentence about undecided rows."""
    return f"; {n_open:,} were not decided within what they may cost" if n_open else ""
