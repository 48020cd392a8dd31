"""XGBoost: models and model files, in both directions."""
