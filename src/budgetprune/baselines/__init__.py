"""Rivals: other ways to predict on a budget, each a scikit-learn estimator that knows its prices."""
