"""Prediction on a budget: exact, joint pruning of tree ensembles whose features cost something."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
