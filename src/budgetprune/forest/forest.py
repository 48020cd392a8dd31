"""`Forest`: all trees of an ensemble as flat arrays, independent of the library that trained them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.checks import check_forest
from budgetprune.forest.conversion import LibraryConversion
from budgetprune.forest.labels import label_numbers
from budgetprune.forest.packed import PackedTrees, pack
from budgetprune.forest.pruning import prune_forest
from budgetprune.forest.routing import find_leaves, leaves_by_tree, sum_values
from budgetprune.forest.rows import as_rows
from budgetprune.forest.schema import ARRAYS
from budgetprune.forest.topology_kernels import depths
from budgetprune.forest.weights import weigh
from budgetprune.utils.arrays import frozen
from budgetprune.utils.feature_names import default_names
from budgetprune.utils.special import expit, softmax

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Forest(LibraryConversion):
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
        Index of the set of categories that go left, -1 for a threshold split.
    category_start : int64 array of shape (n_sets + 1,)
    category_bits : uint32 array
        The sets: category `c` is bit `c % 32` of word `category_start[s] + c // 32`.
    value : float64 array of shape (n_nodes, n_values)
        Output of the tree if the row stops at the node.
    weight : float64 array of shape (n_nodes,)
        Training weight that reached the node; 0 at all nodes if unknown.
    class_weight : float64 array of shape (n_nodes, n_classes), or None if unknown
        Training weight of each class that reached the node.
    variance : float64 array of shape (n_nodes,), or None if unknown
        Weighted variance of the training targets that reached the node, around the node's value.
    tree_output : int32 array of shape (n_trees,)
        Output that a tree contributes to, -1 for all.
    base : float64 array of shape (n_outputs,)
    divisor : float
    link : {"identity", "logistic", "softmax", "exp"}
        From scores to probabilities, or from the score to the target.
    label_rule : {"argmax", "positive", "nonnegative", "likeliest"}
        From scores to labels: the first maximum; the second class if the score, or its lead where both have
        scores, is `> 0` (`>= 0`); or the first of the classes with the largest probability after rounding.
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
        Index of the node in its tree of the origin.
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
    other_category : str, or None
        Name of the category that stands for all unknown ones, where a feature has it among its categories.
        An empty string is a missing value then. Elsewhere unknown categories count as missing.
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
    other_category: str | None = None
    absent_is_missing: bool = False
    label_dtype: np.dtype[Any] = _DOUBLE

    def __post_init__(self) -> None:
        for name, dtype in ARRAYS.items():
            if getattr(self, name) is not None:
                # A view leaves the caller's own array writable.
                array = np.ascontiguousarray(getattr(self, name), dtype=dtype).view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        check_forest(self)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # unpickled arrays are writable

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
    def used_features(self) -> NDArray[np.int32]:
        """Features that some split tests, in increasing order."""
        return frozen(np.unique(self.feature[self.is_split]))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each feature: `feature_names`, or "x0", "x1", ... if there are none."""
        return self.feature_names or default_names(self.n_features)

    @property
    def feature_categories(self) -> tuple[tuple[Any, ...] | None, ...]:
        """Categories of each feature, None for a numeric feature."""
        return self.categories or (None,) * self.n_features

    @cached_property
    def tree_of_node(self) -> NDArray[np.int32]:
        """Index of the tree that each node belongs to."""
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
        X : array, sparse matrix, or table of pandas, polars, Arrow or DuckDB, of shape (n_rows, n_features)
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
            other_category=self.other_category,
            absent=np.nan if self.absent_is_missing else 0.0,
        )

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree: absolute node numbers, of shape (n_rows, n_trees)."""
        rows = self.prepare_rows(X)
        leaves: NDArray[np.int32] = find_leaves(rows, self._packed)
        return leaves

    def leaves_by_tree(self, rows: NDArray[Any]) -> NDArray[np.int32]:
        """Return what `apply` returns, tree by tree: of shape (n_trees, n_rows).

        Parameters
        ----------
        rows : as `prepare_rows` returns them
        """
        return leaves_by_tree(rows, self._packed)

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Sum the outputs of the trees, in their order: the score before the link, (n_rows, n_outputs)."""
        rows = self.prepare_rows(X)
        scores: NDArray[np.float64] = sum_values(rows, self._packed, self.value, self.tree_output, self.base)
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

    def with_weights_of(self, X: Any) -> Forest:
        """Return the forest with the weights of nodes, and the values of inner nodes, from rows.

        Some models record neither (ONNX): `weight` is 0, and an inner node has the mean of its children.
        Both matter to pruning. The estimators call this method for such models, with the training rows if
        they are given, else with the validation rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        forest : Forest
            `weight` is the number of rows at each node, and inner nodes have the mean of the leaves below
            them, by these rows. Records that belong to other rows (`class_weight`, `variance`,
            `split_gain`) are removed. Predictions are the same.
        """
        return weigh(self, X)

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
        return prune_forest(self, keep)
