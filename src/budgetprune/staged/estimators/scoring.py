"""Scoring of outputs by scikit-learn's scorers."""

from __future__ import annotations

import inspect
from typing import Any


def takes_queries(scorer: Any) -> bool:
    """Whether a scorer has a parameter `qid`; scikit-learn's pass theirs on to a function."""
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return "qid" in parameters or (takes_all and not hasattr(scorer, "_score_func"))
