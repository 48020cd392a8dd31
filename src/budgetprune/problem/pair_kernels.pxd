from budgetprune.utils.kernel_types cimport *


# First uses, sorted by source, and the arrays that give their rows.
cdef class UsesBySource:
    cdef Longs by_source, source_start
    cdef Ints rows, row_start, tree_of_node, use_node
    cdef Longs use_start
    cdef Size n_rows

cdef Size shift_of_rows(UsesBySource uses, Size k) noexcept nogil
