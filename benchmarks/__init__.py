"""How fast and how small: ratios against peers that are measured in the same run."""
