from budgetprune.forest.kernels cimport goes_left
from budgetprune.predictor.state_kernels cimport BoundedTrees, State, StoppingRule
from budgetprune.utils.kernel_types cimport *

# Definitions of a tree's need, in the order of `ORDERS`.
cdef enum:
    BY_LOOK_AHEAD
    BY_RANGE
    BY_WAITING

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define budgetprune_prefetch(address) __builtin_prefetch(address)
    #else
    #define budgetprune_prefetch(address) ((void)(address))
    #endif
    """
    void prefetch "budgetprune_prefetch" (const void *address) nogil

cdef enum:
    LARGE = 2147483647  # beyond all bounds of a single tree

cdef void start_at_roots(BoundedTrees trees, StoppingRule rule, double slack, State state) noexcept nogil
cdef void advance(
    uint64_t due, BoundedTrees trees, StoppingRule rule, double slack, State state
) noexcept nogil
