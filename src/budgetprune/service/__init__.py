"""Stateless HTTP service for a predictor: values in, a decision or the next source out.

Needs the extra ``budgetprune[serve]``.
"""

from budgetprune.service.app import create_app
from budgetprune.service.server import ServerOptions, run
from budgetprune.utils.limits import Limits

__all__ = ["Limits", "ServerOptions", "create_app", "run"]
