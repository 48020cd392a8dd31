"""Model selection inside `fit`: roles of rows, candidates, cross-fitting, choice."""
