"""Tree ensembles as flat arrays: import from a library, routing of rows, export."""

from budgetprune.forest import adapters as _adapters  # noqa: F401  (registers the libraries)
from budgetprune.forest import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.forest.adapter import Adapter, Reader
from budgetprune.forest.adapters.sklearn.bootstrap import in_bag_counts
from budgetprune.forest.adapters.sklearn.common import JoinedTrees, check_fitted, join_trees
from budgetprune.forest.categories import encode_table
from budgetprune.forest.forest import Forest
from budgetprune.forest.labels import label_cut, tie_margin
from budgetprune.forest.names import are_stored_names, original_names
from budgetprune.forest.packed import PackedTrees
from budgetprune.forest.pruning import check_keep
from budgetprune.forest.registry import (
    ADAPTERS,
    adapter_of,
    adapter_of_suffix,
    find_adapter,
    register_adapter,
)
from budgetprune.forest.routing import chunk_bounds, goes_left, sum_values
from budgetprune.forest.rows import as_rows
from budgetprune.forest.schema import ARRAYS, LABEL_RULES, LARGEST_SUM, PER_NODE, TWO_DIMENSIONAL
from budgetprune.forest.section import check_same_forest, from_plain, present, settings_to_store, to_plain
from budgetprune.forest.topology import links_in_preorder, mean_of_leaves, sum_of_leaves

__all__ = [
    "ADAPTERS",
    "ARRAYS",
    "LABEL_RULES",
    "LARGEST_SUM",
    "PER_NODE",
    "TWO_DIMENSIONAL",
    "Adapter",
    "Forest",
    "JoinedTrees",
    "PackedTrees",
    "Reader",
    "adapter_of",
    "adapter_of_suffix",
    "are_stored_names",
    "as_rows",
    "check_fitted",
    "check_keep",
    "check_same_forest",
    "chunk_bounds",
    "encode_table",
    "find_adapter",
    "from_plain",
    "goes_left",
    "in_bag_counts",
    "join_trees",
    "label_cut",
    "links_in_preorder",
    "mean_of_leaves",
    "original_names",
    "present",
    "register_adapter",
    "settings_to_store",
    "sum_of_leaves",
    "sum_values",
    "tie_margin",
    "to_plain",
]
