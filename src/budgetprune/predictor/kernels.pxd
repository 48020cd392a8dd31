from budgetprune.predictor.advance_kernels cimport advance, start_at_roots
from budgetprune.predictor.choice_kernels cimport Needs, choose, find_wanted
from budgetprune.predictor.state_kernels cimport (
    BoundedTrees, State, StoppingRule, copy_state, set_values, waits
)
from budgetprune.utils.kernel_types cimport *

# Kinds of rules: one direction passes a cut; one direction leads all others; one direction is narrow.
cpdef enum:
    CUT
    LEAD
    NARROW

# Reasons to stop, `State.why`.
cpdef enum:
    WAITING
    CERTAIN
    COMPLETE
    TOO_EXPENSIVE
    UNAVAILABLE
    STOPPED

cpdef enum:
    NO_LABEL = -1

cdef class Decider:
    cdef BoundedTrees trees
    cdef Needs needs
    cdef StoppingRule rule
    cdef double slack
    cdef Doubles2 value
    cdef Ints tree_output
    cdef Doubles base
    cdef Size n_features, n_sources
    cdef Doubles price
    cdef State initial, start
    cdef bint is_some_known
