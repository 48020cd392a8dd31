"""Feature costs: sources, their prices, and the sources that each feature needs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
