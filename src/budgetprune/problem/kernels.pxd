from budgetprune.utils.kernel_types cimport *


# Trees, and the rows that reach their nodes.
cdef class TreeRows:
    cdef Longs tree_start
    cdef Ints right
    cdef Ints2 order
    cdef Ints start, stop
