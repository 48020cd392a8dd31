"""Image descriptors in groups, each with a measured price, as a substitute for Scene15."""
