from budgetprune.utils.kernel_types cimport *

cdef enum:
    NEVER = -1
    ALWAYS = -2

cdef class BlockUses:
    cdef readonly Longs start, stop
    cdef Ints source, tree, row_start, row_stop
    cdef Ints2 order
