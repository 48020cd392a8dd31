"""CatBoost: models and model files, import only."""
