from budgetprune.utils.kernel_types cimport *


cdef class LeafProblem:
    cdef Ints2 order
    cdef Ints row_start
    cdef Longs leaf_start
    cdef Doubles2 old
    cdef Doubles counted, weight
    cdef double ridge, divisor
    cdef readonly Size n_trees
