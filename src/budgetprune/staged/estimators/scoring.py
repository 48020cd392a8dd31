"""Parameters of scorers."""

from __future__ import annotations

import inspect
from typing import Any


def takes_queries(scorer: Any) -> bool:
    """Whether a scorer, or the function that a scikit-learn scorer wraps, accepts `qid`."""
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return "qid" in parameters or (takes_all and not hasattr(scorer, "_score_func"))
