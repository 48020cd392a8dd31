"""Accuracy for cost on real data: the paper's pruning, ours, and LightGBM with feature costs, tuned."""
