from budgetprune.utils.kernel_types cimport *


# As in `grower_inputs.py` and `binning.py`.
cdef enum:
    ENTROPY = 0
    PAIRS = 1
    SQUARED = 2
    MISSING = 255

cdef class SplitSearch:
    # Inputs.
    cdef Bytes2 code
    cdef Ints n_bins, label
    cdef Doubles weighted_target, weight, table, price
    cdef Longs needs_start
    cdef Ints needs, rows
    cdef OutFlags is_paid
    cdef Size measure, max_features, min_samples_leaf
    cdef bint is_expected
    cdef double threshold, cost_weight
    # The current node: its sums, and what belongs to its rows.
    cdef OutDoubles total
    cdef OutInts node_label
    cdef OutDoubles node_weight, node_target
    cdef double node_total, tree_weight
    # The histogram of the current feature, and the sums of the children at the current edge.
    cdef OutInts count
    cdef OutDoubles2 histogram
    cdef OutDoubles of_left, of_right
    # The order of features, and the state of the generator that shuffles them.
    cdef OutLongs order
    cdef uint64_t state

cdef void sum_rows(SplitSearch search, Size begin, Size end) noexcept nogil
cdef (Size, Size, Size) find_split(SplitSearch search, Size begin, Size n_rows) noexcept nogil
