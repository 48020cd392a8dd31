from budgetprune.forest.kernels cimport goes_left
from budgetprune.predictor.state_kernels cimport BoundedTrees, State, StoppingRule
from budgetprune.utils.kernel_types cimport *

# Definitions of a tree's need, in the order of `ORDERS`.
cdef enum:
    BY_LOOK_AHEAD
    BY_RANGE
    BY_WAITING

cdef enum:
    LARGE = 2147483647  # beyond all bounds of a single tree

cdef void start_at_roots(BoundedTrees trees, StoppingRule rule, double slack, State state) noexcept nogil
cdef void advance(
    uint64_t due, BoundedTrees trees, StoppingRule rule, double slack, State state
) noexcept nogil
