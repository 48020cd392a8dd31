"""Helpers without dependencies on the rest of the package: arrays, files, threads, compilation."""
