"""Tree ensembles as flat arrays: import from a library, routing of rows, export."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
