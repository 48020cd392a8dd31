from budgetprune.baselines.split_kernels cimport MISSING, SplitSearch, find_split, sum_rows
from budgetprune.utils.kernel_types cimport *


cdef class Grower:
    cdef SplitSearch search
    cdef Size max_depth, next_node
    cdef readonly Size n_nodes
    # The tree.
    cdef OutInts feature, bin, left, right, leaf
    cdef OutFlags missing_left
    cdef OutDoubles2 sums
    # The rows of node `h` are those from `start[h]` to `stop[h]`.
    cdef OutInts rows, went_right
    cdef OutLongs start, stop
    cdef OutInts depth
