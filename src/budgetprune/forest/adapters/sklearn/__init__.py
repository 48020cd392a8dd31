"""scikit-learn: forests, single trees, bags of trees, both kinds of gradient boosting."""
