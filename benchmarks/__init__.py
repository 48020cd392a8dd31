"""Benchmarks of time and memory: ratios against peers that are measured in the same run."""
