"""Prediction on a budget: exact, joint pruning of tree ensembles whose features cost something."""
