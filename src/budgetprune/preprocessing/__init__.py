"""Preprocessing of raw columns: the features of a pipeline, and the raw columns that each needs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
