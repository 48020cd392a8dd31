"""Limits of tables."""

# Rows of an svmlight file become dense, so that one large index can fill the memory.
MOST_COLUMNS = 10_000
