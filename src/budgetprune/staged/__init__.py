"""Staged models: a row acquires sources in stages, and stops when the next stage is not worth its price."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
