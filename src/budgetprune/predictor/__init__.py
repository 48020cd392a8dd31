"""Prediction: acquire one source at a time, and stop when the label is certain."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
