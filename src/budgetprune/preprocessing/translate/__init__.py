"""Conversion of fitted transformers of scikit-learn to a `Preprocessing`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
