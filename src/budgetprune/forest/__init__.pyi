from .adapter import Adapter as Adapter
from .adapter import Reader as Reader
from .adapters.sklearn.bootstrap import in_bag_counts as in_bag_counts
from .adapters.sklearn.common import (
    JoinedTrees as JoinedTrees,
)
from .adapters.sklearn.common import (
    check_fitted as check_fitted,
)
from .adapters.sklearn.common import (
    join_trees as join_trees,
)
from .categories import encode_table as encode_table
from .categories import numbers_of as numbers_of
from .expected_scores import expected_values as expected_values
from .forest import Forest as Forest
from .importances import as_shares as as_shares
from .importances import explained_variances as explained_variances
from .kernels import Trees as Trees
from .labels import label_cut as label_cut
from .labels import tie_margin as tie_margin
from .names import are_stored_names as are_stored_names
from .names import original_names as original_names
from .packed import tree_arrays as tree_arrays
from .pruning import check_keep as check_keep
from .registry import (
    ADAPTERS as ADAPTERS,
)
from .registry import (
    adapter_of as adapter_of,
)
from .registry import (
    adapter_of_folder as adapter_of_folder,
)
from .registry import (
    adapter_of_suffix as adapter_of_suffix,
)
from .registry import (
    find_adapter as find_adapter,
)
from .registry import (
    is_ranking_model as is_ranking_model,
)
from .registry import (
    register_adapter as register_adapter,
)
from .routing import sum_values as sum_values
from .rows import as_rows as as_rows
from .schema import (
    ARRAYS as ARRAYS,
)
from .schema import (
    LABEL_RULES as LABEL_RULES,
)
from .schema import (
    LARGEST_SUM as LARGEST_SUM,
)
from .schema import (
    PER_NODE as PER_NODE,
)
from .schema import (
    TWO_DIMENSIONAL as TWO_DIMENSIONAL,
)
from .section import (
    check_same_forest as check_same_forest,
)
from .section import (
    forest_from_parts as forest_from_parts,
)
from .section import (
    forest_to_parts as forest_to_parts,
)
from .section import (
    settings_to_store as settings_to_store,
)
from .section import (
    without_none as without_none,
)
from .topology import (
    links_in_preorder as links_in_preorder,
)
from .topology_kernels import (
    mean_of_leaves as mean_of_leaves,
)
from .topology_kernels import (
    preorder as preorder,
)
from .topology_kernels import (
    sum_of_leaves as sum_of_leaves,
)
