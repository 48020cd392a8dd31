"""Yggdrasil Decision Forests: models and model folders, import only."""
