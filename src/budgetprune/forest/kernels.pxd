from budgetprune.utils.kernel_types cimport *


# A node of `packed_nodes`, in the precision of the rows.
cdef struct Node32:
    float threshold
    int32_t feature
    uint32_t[2] child

cdef struct Node64:
    double threshold
    int32_t feature
    uint32_t[2] child

cdef class Trees:
    cdef Longs tree_start
    cdef Doubles threshold
    cdef Flags missing_left
    cdef Ints category_set
    cdef Longs category_start
    cdef Words category_bits
    cdef double zero
    cdef readonly Size n_trees

cdef class Trees32(Trees):
    cdef const Node32[::1] node

cdef class Trees64(Trees):
    cdef const Node64[::1] node

ctypedef fused AnyTrees:
    Trees32
    Trees64

# Rows that one tree has sorted by the leaf that they reach.
cdef class SortedRows:
    cdef OutWords order, went_right
    cdef OutLongs reached, stop
    cdef Size n_leaves

cdef bint goes_left(double x, Size h, Trees trees) noexcept nogil
