"""`Forest`: all trees of an ensemble as flat arrays, independent of the library that trained them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import checks as _checks
from budgetprune.forest.labels import label_numbers
from budgetprune.forest.packed import PackedTrees, pack
from budgetprune.forest.registry import export_forest, find_adapter, import_model
from budgetprune.forest.routing import chunk_bounds, find_leaves, sum_values
from budgetprune.forest.rows import as_rows
from budgetprune.forest.topology import depths
from budgetprune.utils.arrays import frozen

if TYPE_CHECKING:
    from onnx import ModelProto

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Forest:
    """Library-independent representation of a tree ensemble.

    Nodes of all trees are numbered consecutively, each tree in pre-order: a subtree is a contiguous range,
    and the left child of split `h` is `h + 1`. Inner nodes carry a value too: the tree's output if it is
    pruned there. The score of a row is `(base + sum over trees of the value where the row stops) / divisor`.

    Parameters
    ----------
    tree_start : int64 array of shape (n_trees + 1,)
        Offsets of each tree's nodes.
    parent, left, right : int32 arrays of shape (n_nodes,)
        Absolute node numbers, -1 where there is none.
    feature : int32 array of shape (n_nodes,)
        Column that a split tests, -1 at leaves.
    threshold : float64 array of shape (n_nodes,)
        `x <= threshold` goes left; NaN at leaves and at splits by category.
    missing_left : bool array of shape (n_nodes,)
        Whether a missing value goes left.
    category_set : int32 array of shape (n_nodes,)
        Number of the set of categories that go left, -1 for a threshold split.
    category_start : int64 array of shape (n_sets + 1,)
    category_bits : uint32 array
        The sets: category `c` is bit `c % 32` of word `category_start[s] + c // 32`.
    value : float64 array of shape (n_nodes, n_values)
        Output of the tree if the row stops at the node.
    weight : float64 array of shape (n_nodes,)
        Training weight that reached the node.
    class_weight : float64 array of shape (n_nodes, n_classes), or None if unknown
        The same, by class.
    variance : float64 array of shape (n_nodes,), or None if unknown
        Weighted variance of the training targets that reached the node, around the node's value.
    tree_output : int32 array of shape (n_trees,)
        Output that a tree contributes to, -1 for all.
    base : float64 array of shape (n_outputs,)
    divisor : float
    link : {"identity", "logistic", "softmax", "exp"}
        From scores to probabilities, or from the score to the target.
    label_rule : {"argmax", "positive", "nonnegative", "likeliest"}
        From scores to labels: the first maximum; the second class if the score is `> 0` (`>= 0`); or the
        first of the classes with the largest probability after rounding.
    classes : array of shape (n_classes,), or None for regression
    n_features : int
    feature_names : tuple of str, or None
    input_dtype : numpy dtype
        Rows are rounded to it before they are compared with thresholds.
    missing : {"forbidden", "nan", "nan-or-zero"}
        Values that count as missing.
    origin : the fitted model, or None
        Needed to convert back and to redraw the bootstrap samples.
    origin_node : int32 array of shape (n_nodes,)
        Number of the node in its tree of the origin.
    loss : {"squared", "logistic", "softmax", "poisson", "gamma"}, or None
        Training loss of a boosted ensemble, as a function of the scores; None for averaged trees and for
        unsupported losses.
    tree_round : int32 array of shape (n_trees,), or None
        Boosting round of each tree: its gradients are taken at the sum of the base and all trees of earlier
        rounds. None: the trees are independent and averaged.
    split_gain : float64 array of shape (n_nodes,), or None if unknown
        Decrease of the training loss by each split of a boosted tree, per unit of training weight, relative
        to the node's own value: to second order, with shrunken values. 0 at leaves.
    categories : tuple with one entry per feature, or None
        The categories of each feature that has any, in the order in which they are numbered; None for a
        numeric feature (or one that the caller encodes).
    absent_is_missing : bool
        Whether entries that a sparse matrix does not store are missing (XGBoost) or zero (all others).
    label_dtype : numpy dtype
        Precision of the label rule: scores are rounded to it, and probabilities are computed in it.
    """

    tree_start: NDArray[np.int64]
    parent: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    category_start: NDArray[np.int64]
    category_bits: NDArray[np.uint32]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    class_weight: NDArray[np.float64] | None
    variance: NDArray[np.float64] | None
    tree_output: NDArray[np.int32]
    base: NDArray[np.float64]
    divisor: float
    link: Literal["identity", "logistic", "softmax", "exp"]
    label_rule: Literal["argmax", "positive", "nonnegative", "likeliest"]
    classes: NDArray[Any] | None
    n_features: int
    feature_names: tuple[str, ...] | None
    input_dtype: np.dtype[Any]
    missing: Literal["forbidden", "nan", "nan-or-zero"]
    origin: Any | None
    origin_node: NDArray[np.int32]
    loss: str | None = None
    tree_round: NDArray[np.int32] | None = None
    split_gain: NDArray[np.float64] | None = None
    categories: tuple[tuple[Any, ...] | None, ...] | None = None
    absent_is_missing: bool = False
    label_dtype: np.dtype[Any] = _DOUBLE

    def __post_init__(self) -> None:
        for name, dtype in _checks.ARRAYS.items():
            if getattr(self, name) is not None:
                # A view leaves the caller's own array writable.
                array = np.ascontiguousarray(getattr(self, name), dtype=dtype).view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        _checks.check_forest(self)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # unpickled arrays are writable

    @staticmethod
    def from_model(model: Any) -> Forest:
        """Convert a fitted model.

        Parameters
        ----------
        model : fitted model
            Classifier or regressor, with a single output. Of scikit-learn: RandomForest, ExtraTrees,
            DecisionTree, ExtraTree, Bagging of trees, GradientBoosting, HistGradientBoosting. It is kept as
            `origin` and never changed. Of XGBoost: Booster, XGBClassifier, XGBRegressor, XGBRFClassifier,
            XGBRFRegressor, XGBRanker, with scalar trees (no `dart`, no `gblinear`, no vectors at leaves). Of
            LightGBM: Booster, LGBMClassifier, LGBMRegressor, LGBMRanker (no `dart`, no linear trees).

        Notes
        -----
        Labels are those of the model, also where probabilities tie after rounding; those of a Booster are its
        most probable classes. XGBoost adds up leaves in single precision, a Forest in double precision: its
        labels are those that XGBoost would give to that sum, rounded once. They can differ from XGBoost's own
        only for rows whose scores are as close to a tie as XGBoost's rounding errors, about 1e-7 of the
        largest score per tree.

        An inconsistent model raises InvalidInputError, which names the tree and the node: children that do
        not exist, cycles, unknown features, missing sets of categories.
        """
        return import_model(model)

    def __repr__(self) -> str:
        kind = "regression" if self.classes is None else f"{self.classes.size} classes"
        return f"Forest({self.n_trees} trees, {self.n_splits} splits, {self.n_features} features, {kind})"

    @property
    def n_trees(self) -> int:
        return self.tree_start.size - 1

    @property
    def n_nodes(self) -> int:
        return self.feature.size

    @property
    def n_splits(self) -> int:
        return int(np.count_nonzero(self.is_split))

    @property
    def n_outputs(self) -> int:
        return self.base.size

    @property
    def is_classifier(self) -> bool:
        return self.classes is not None

    @property
    def is_boosted(self) -> bool:
        """Whether the ensemble is boosted: its trees are summed, not averaged."""
        return self.tree_round is not None

    @cached_property
    def is_split(self) -> NDArray[np.bool_]:
        """Mask of the nodes that have children."""
        return frozen(self.feature >= 0)

    @cached_property
    def tree_of_node(self) -> NDArray[np.int32]:
        """Number of the tree each node belongs to."""
        return frozen(np.repeat(np.arange(self.n_trees, dtype=np.int32), np.diff(self.tree_start)))

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Number of splits above each node."""
        return frozen(depths(self.parent))

    @cached_property
    def _packed(self) -> PackedTrees:
        return pack(self)

    def prepare_rows(self, X: Any, name: str = "X") -> NDArray[Any]:
        """Validate rows and convert them to the array that the kernels take.

        Parameters
        ----------
        X : numpy array, pandas or polars table, or scipy sparse matrix of shape (n_rows, n_features)
            If the forest has `categories`, columns of a table hold categories, and arrays their numbers.
        name : str
            Name of the rows in error messages.

        Returns
        -------
        rows : C-contiguous array of `input_dtype`
        """
        return as_rows(
            X,
            name,
            n_features=self.n_features,
            feature_names=self.feature_names,
            dtype=self.input_dtype,
            allow_nan=self.missing != "forbidden",
            categories=self.categories,
            absent=np.nan if self.absent_is_missing else 0.0,
        )

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree: absolute node numbers, of shape (n_rows, n_trees)."""
        rows = self.prepare_rows(X)
        leaves: NDArray[np.int32] = find_leaves(rows, chunk_bounds(len(rows)), self._packed)
        return leaves

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Sum the outputs of the trees, in their order: the score before the link, (n_rows, n_outputs)."""
        rows = self.prepare_rows(X)
        scores: NDArray[np.float64] = sum_values(
            rows, chunk_bounds(len(rows)), self._packed, self.value, self.tree_output, self.base
        )
        scores /= self.divisor
        return scores

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert scores to class probabilities, of shape (n_rows, n_classes)."""
        if self.classes is None:
            raise UnsupportedModelError("a regression forest has no class probabilities; use predict.")
        if self.link == "identity":
            return scores
        if self.link == "logistic":
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        probabilities: NDArray[np.float64] = softmax(scores, axis=1)
        return probabilities

    def answers(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Convert scores to labels, by the rule of the original library, or to targets."""
        if self.classes is None:
            return np.exp(scores[:, 0]) if self.link == "exp" else scores[:, 0]
        labels: NDArray[Any] = self.classes[label_numbers(self, scores)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, of shape (n_rows, n_classes)."""
        return self.probabilities(self.scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row, or its target."""
        return self.answers(self.scores(X))

    def prune(self, keep: ArrayLike) -> Forest:
        """Return the forest without the nodes below pruned splits.

        Parameters
        ----------
        keep : bool array of shape (n_nodes,)
            Mask of the splits to keep. The parent of a kept split must be kept.

        Returns
        -------
        forest : Forest
            Holds only the remaining nodes, in their old order; pruned splits are leaves.
        """
        keep = _checks.check_keep(self, keep)
        stays = (self.parent < 0) | keep[self.parent]
        is_split = keep[stays]
        # One extra slot, so that "no node" (-1) maps to itself.
        number = np.append(np.cumsum(stays, dtype=np.int32) - np.int32(1), np.int32(-1))
        return replace(
            self,
            tree_start=np.append(number[self.tree_start[:-1]], is_split.size),
            parent=number[self.parent[stays]],
            left=np.where(is_split, number[self.left[stays]], -1),
            right=np.where(is_split, number[self.right[stays]], -1),
            feature=np.where(is_split, self.feature[stays], -1),
            threshold=np.where(is_split, self.threshold[stays], np.nan),
            missing_left=self.missing_left[stays] & is_split,
            category_set=np.where(is_split, self.category_set[stays], -1),
            value=self.value[stays],
            weight=self.weight[stays],
            class_weight=None if self.class_weight is None else self.class_weight[stays],
            variance=None if self.variance is None else self.variance[stays],
            origin_node=self.origin_node[stays],
            split_gain=None if self.split_gain is None else np.where(is_split, self.split_gain[stays], 0.0),
        )

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
        return export_forest(self, "sklearn")

    def to_lightgbm(self) -> Any:
        """Convert a forest imported from LightGBM to a `Booster` with only the remaining nodes.

        It predicts as this forest does, and keeps the parameters and the categories of the origin, which is
        not changed. A wrapper (`LGBMClassifier`) also becomes a booster: its labels are numbers.
        """
        return export_forest(self, "lightgbm")

    def to_xgboost(self) -> Any:
        """Convert a forest imported from XGBoost to a `Booster` with only the remaining nodes.

        It predicts as this forest does, in single precision. XGBoost's scikit-learn estimators can load the
        file that its `save_model` writes. The origin is not changed.
        """
        return export_forest(self, "xgboost")

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
        model: ModelProto = export_forest(self, "onnx", name=name)
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
        return export_forest(self, library, **options)

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
                "the forest has no origin: only the fitted model it came from knows which rows its trees saw."
            )
        if self.is_boosted:
            raise InvalidInputError(
                "boosted trees keep no record of the rows that each of them was grown on."
            )
        return find_adapter(self.origin).in_bag_counts(self.origin, n_rows)
