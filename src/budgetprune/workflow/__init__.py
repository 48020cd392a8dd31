"""From tables and trained models to models for a budget."""
