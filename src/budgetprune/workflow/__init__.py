"""The main jobs: train a model on a table within a budget, or prune a fitted model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
