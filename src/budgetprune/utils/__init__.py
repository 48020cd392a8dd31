"""Helpers that know nothing of the rest of the package: arrays, files, threads, compilation."""
