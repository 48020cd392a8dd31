"""Stateless HTTP service for a predictor: values in, a decision or the next source out.

Needs the extra ``budgetprune[serve]``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
