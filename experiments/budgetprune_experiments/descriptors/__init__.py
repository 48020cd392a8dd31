"""Descriptors of images in groups, each with a measured price, in the manner of Scene15."""
