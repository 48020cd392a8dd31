"""`Preprocessed`: the preprocessing of a pipeline while its model is pruned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from budgetprune.costs import FeatureCosts
from budgetprune.forest import Forest
from budgetprune.preprocessing import (
    CategoryNumbers,
    Preprocessing,
    PricedPreprocessing,
    as_category_columns,
    join_pipeline,
    text_columns,
)
from budgetprune.selection import LabelledRows


@dataclass(frozen=True, eq=False)
class Preprocessed:
    """Fitted preprocessing, and its translation.

    Attributes
    ----------
    pipeline : the whole pipeline
    transformer : its fitted steps before the model
    preprocessing : Preprocessing
    is_sparse : whether the transformer returns sparse matrices
    """

    pipeline: Any
    transformer: Any
    preprocessing: Preprocessing
    is_sparse: bool

    @classmethod
    def of(cls, pipeline: Any, transformer: Any, X: Any, needs: Any) -> Preprocessed:
        """Translate a fitted transformer; `X` are raw rows."""
        preprocessing = Preprocessing.from_sklearn(transformer, X, needs=needs)
        head = X.iloc[:1] if hasattr(X, "iloc") else X[:1]
        return cls(pipeline, transformer, preprocessing, issparse(transformer.transform(head)))

    def encode(self, rows: LabelledRows | None) -> Any:
        """Encode rows in the form that the model was trained on."""
        return None if rows is None else replace(rows, X=self.transformer.transform(rows.X))

    def finish(
        self, forest: Forest, costs: Any, train: LabelledRows | None, val: LabelledRows
    ) -> tuple[Forest, FeatureCosts, LabelledRows | None, LabelledRows, PricedPreprocessing]:
        """Return the forest with names of the encoded features, their costs, and encoded rows as numbers."""
        numbers = [
            None if rows is None else replace(rows, X=forest.prepare_rows(rows.X)) for rows in (train, val)
        ]
        preprocessing = self.preprocessing.for_forest(forest, is_sparse=self.is_sparse)
        forest = replace(forest, feature_names=preprocessing.feature_names)
        priced = PricedPreprocessing.of(preprocessing, costs)
        assert numbers[1] is not None
        return forest, FeatureCosts.from_table(priced.costs, forest.names), numbers[0], numbers[1], priced

    def join(self, model: Any) -> Any:
        """Return the pipeline with another model."""
        return join_pipeline(self.pipeline, self.transformer, model)


def with_categories(model: Any, given: LabelledRows, *, is_classifier: bool) -> tuple[Any, LabelledRows]:
    """Make categories of the text columns of training rows.

    Return the model and rows with columns of type ``category`` if it splits by these, or a pipeline that
    numbers the categories. Without text columns, both stay as they are.

    Parameters
    ----------
    model : model that is not fitted yet
    given : training rows
    is_classifier : whether targets are classes
    """
    if _parameters(model).get("cat_features") is not None:  # CatBoost reads text
        return model, given
    splits_categories = hasattr(given.X, "iloc") and _splits_categories(model)
    columns = text_columns(given.X, with_categories=not splits_categories)
    if not columns:
        return model, given
    if splits_categories:
        return model, replace(given, X=as_category_columns(given.X, columns))
    return Pipeline([("categories", CategoryNumbers(is_classifier)), ("model", model)]), given


def _splits_categories(model: Any) -> bool:
    """Whether a model makes splits by category of the columns of type ``category`` of a pandas table."""
    kind, parameters = type(model).__name__, _parameters(model)
    if kind.startswith("HistGradientBoosting"):
        return bool(parameters["categorical_features"] == "from_dtype")
    return kind.startswith("LGBM") or bool(parameters.get("enable_categorical"))


def _parameters(model: Any) -> dict[str, Any]:
    return model.get_params() if hasattr(model, "get_params") else {}
