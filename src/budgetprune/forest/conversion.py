"""Conversion of a `Forest` from and to the models of libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest.registry import adapter_of, export_forest, find_adapter, import_model

if TYPE_CHECKING:
    from onnx import ModelProto

    from budgetprune.forest.forest import Forest


class LibraryConversion:
    """Methods of `Forest` that convert models of libraries, by the adapters in the registry."""

    origin: Any | None
    tree_round: NDArray[np.int32] | None

    @staticmethod
    def from_model(model: Any) -> Forest:
        """Convert a fitted model.

        Parameters
        ----------
        model : fitted model
            Classifier or regressor, with a single output. Of scikit-learn: RandomForest, ExtraTrees,
            DecisionTree, ExtraTree, Bagging of trees, GradientBoosting, HistGradientBoosting; or a
            CalibratedClassifierCV of two classes around one of them (a sigmoid, or a temperature of scores).
            It is kept as
            `origin` and never changed. Of XGBoost: Booster, XGBClassifier, XGBRegressor, XGBRFClassifier,
            XGBRFRegressor, XGBRanker, with scalar trees (no `dart`, no `gblinear`, no vectors at leaves). Of
            LightGBM: Booster, LGBMClassifier, LGBMRegressor, LGBMRanker (no `dart`, no linear trees). Of
            CatBoost: CatBoost, CatBoostClassifier, CatBoostRegressor, CatBoostRanker (no statistics of
            categories, texts or embeddings). Of ydf: RandomForestModel, GradientBoostedTreesModel (no oblique
            splits, no sets as values). Of ONNX: a ModelProto with one tree operator, the path of an .onnx
            file, or its content (bytes).

        Notes
        -----
        Labels are those of the model, also where probabilities tie after rounding; those of a Booster are its
        most probable classes. XGBoost adds up leaves in single precision, a Forest in double precision: its
        labels are those that XGBoost would give to that sum, rounded once. They can differ from XGBoost's own
        only for rows whose scores are as close to a tie as XGBoost's rounding errors, about 1e-7 of the
        largest score per tree.

        An ONNX model predicts as with onnxruntime. It records neither weights nor losses: see
        `with_weights_of` for the former; sums of trees count as boosted, with the loss that belongs to the
        link (squared error, log loss, or Poisson for an exponential), averages and probabilities as averaged.

        An inconsistent model raises InvalidInputError, which names the tree and the node: children that do
        not exist, cycles, unknown features, missing sets of categories.
        """
        forest = import_model(model)
        if not isinstance(forest, LibraryConversion):
            raise UnsupportedModelError(
                f"the importer of {find_adapter(model).title} returned a {type(forest).__name__} for this "
                f"{type(model).__name__}; it must return a Forest."
            )
        return forest

    def with_categories_of(self, *tables: Any) -> Forest:
        """Return the forest with the names of categories that tables have.

        CatBoost records hashes of categories, not their names. Whole numbers from 0 to 4095 are recognised,
        but columns of other categories need rows to name them. The estimators and `prune_model` call this
        method with their rows. For models of other libraries, it returns the forest as it is.

        Parameters
        ----------
        *tables : pandas or polars tables
            Rows with the columns of the forest. Other rows, such as arrays, are ignored.
        """
        forest = cast("Forest", self)
        named = [table for table in tables if len(getattr(table, "columns", ())) == forest.n_features]
        adapter = None if self.origin is None else adapter_of(self.origin)
        if adapter is None or forest.categories is None or not named:
            return forest
        return adapter.with_categories_of(forest, named)

    def to_sklearn(self) -> Any:
        """Convert the forest to a scikit-learn estimator of its original class.

        The estimator predicts as this forest does, can be pickled, and holds only the remaining nodes. The
        origin is not changed. Attributes that describe the unpruned forest (such as `oob_score_`) are
        removed; those of each boosting round (`train_score_`) are NaN.

        Notes
        -----
        The result converts to ONNX like any model of its class, with the limits of skl2onnx 1.20 and
        onnxruntime: sums are in single precision, so near ties can be decided differently; models of a
        single class, and bags whose trees miss classes, do not run; and *missing values are silently sent
        to the wrong side*, so impute them first.
        """
        return self.to_model("sklearn")

    def to_lightgbm(self) -> Any:
        """Convert a forest imported from LightGBM to a `Booster` with only the remaining nodes.

        It predicts as this forest does, and keeps the parameters and the categories of the origin, which is
        not changed. A wrapper (`LGBMClassifier`) also becomes a booster: its labels are numbers.
        """
        return self.to_model("lightgbm")

    def to_xgboost(self) -> Any:
        """Convert a forest imported from XGBoost to a `Booster` with only the remaining nodes.

        It predicts as this forest does, in single precision. XGBoost's scikit-learn estimators can load the
        file that its `save_model` writes. The origin is not changed.
        """
        return self.to_model("xgboost")

    def to_onnx(self, name: str = "budgetprune") -> ModelProto:
        """Convert the forest to an ONNX model; any origin and any refit is supported.

        The model takes rows as a float32 tensor `X` of shape (n_rows, n_features). A classifier returns
        `label` and `probabilities` (n_rows, n_classes), a regressor `variable` (n_rows, 1). Missing values
        (NaN) go where they go in the forest.

        Parameters
        ----------
        name : str
            Name of the graph.

        Notes
        -----
        Rows are routed exactly as here, if they are rounded to float32 in both places. Outputs are in single
        precision: if the scores of two classes are closer than that, the first class wins. Splits by
        category, and zeros that count as missing, are not supported. Requires the extra
        `budgetprune[onnx]`.
        """
        model: ModelProto = self.to_model("onnx", name=name)
        return model

    def to_model(self, library: str | None = None, **options: Any) -> Any:
        """Convert the forest to a model of a library with a registered adapter.

        Parameters
        ----------
        library : str, optional
            Name of the adapter, such as "sklearn"; by default the library that the forest came from.
        **options
            Options of the adapter's export.
        """
        return export_forest(cast("Forest", self), library, **options)

    def in_bag_counts(self, n_rows: int) -> NDArray[np.int32]:
        """Count how often each training row is in the bootstrap sample of each tree.

        Parameters
        ----------
        n_rows : int
            Number of rows the model was trained on, checked against the model.

        Returns
        -------
        counts : int32 array of shape (n_trees, n_rows)
        """
        if self.origin is None:
            raise InvalidInputError(
                "the forest has no origin: only the fitted model it was imported from records which rows its "
                "trees were grown on."
            )
        if self.tree_round is not None:
            raise InvalidInputError(
                "boosted trees keep no record of the rows that each of them was grown on."
            )
        return find_adapter(self.origin).in_bag_counts(self.origin, n_rows)
