"""Accuracy at equal cost on real data: the paper's pruning, ours, and LightGBM with tuned feature costs."""
