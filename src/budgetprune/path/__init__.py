"""All optimal prunings of a problem, from the unpruned forest to a single leaf per tree."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
