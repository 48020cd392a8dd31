from budgetprune.utils.kernel_types cimport *

cdef class Balance:
    # blocks
    cdef readonly Ints parent
    cdef Doubles gain
    cdef Longs arc_start
    cdef readonly OutDoubles level, before, up
    cdef OutDoubles supply, slope, offset
    cdef readonly OutFlags pooled
    cdef OutInts children, child, sibling
    # arcs
    cdef Ints arc_pair
    cdef readonly OutFloats flow
    # arcs of one tree
    cdef OutFloats others, own_price
    # pairs
    cdef Floats price
    cdef readonly OutFloats load
