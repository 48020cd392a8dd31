"""Tables and price lists: reading, classification of columns, encoding of categories."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
