from budgetprune.predictor.state_kernels cimport State
from budgetprune.utils.kernel_types cimport *

cdef class Needs:
    cdef Longs needs_start
    cdef Ints needs
    cdef Longs gives_start
    cdef Ints gives
    cdef readonly bint is_shared

cdef bint choose(Needs needs, Doubles price, double cost_limit, State state) noexcept nogil
cdef void find_wanted(Needs needs, State state, OutFlags is_wanted) noexcept nogil
