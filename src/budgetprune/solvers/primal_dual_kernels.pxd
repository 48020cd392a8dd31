from budgetprune.utils.kernel_types cimport *

cdef enum:
    LEVELS = 256  # usage is rounded up to multiples of 1 / LEVELS

cdef class Uses:
    cdef Longs source_start, start, stop
    cdef Words rows
    cdef Doubles price, row_weight

cdef class SourceScratch:
    cdef OutDoubles rate
    cdef OutShorts highest
