"""A predictor behind HTTP: values in, a decision or the next source out, and nothing is remembered.

Needs the extra ``budgetprune[serve]``.
"""

from budgetprune._limits import Limits
from budgetprune.service._app import create_app
from budgetprune.service._server import run

__all__ = ["Limits", "create_app", "run"]
