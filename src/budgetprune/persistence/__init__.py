"""Model files: one container format, strict JSON, and a section for each object."""
