from budgetprune.utils.kernel_types cimport *

cdef enum:
    LEVELS_PER_CLASS = 4  # neighbouring levels are one candidate

# Rows of uses: small numbers within a block, larger ones in a problem that is a single block.
ctypedef fused RowNumbers:
    const uint16_t[::1]
    const uint32_t[::1]

cdef class UseRows:
    cdef Longs source_start, start, stop, units
    cdef Ints use
