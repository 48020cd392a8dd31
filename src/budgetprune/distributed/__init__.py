"""Pruning on many machines: rows in Parquet files or a Ray Dataset, divided among workers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
