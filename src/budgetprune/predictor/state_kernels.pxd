from budgetprune.forest.kernels cimport Trees
from budgetprune.utils.kernel_types cimport *

# A node of `BoundedTrees`; both children of a split are in one cache line.
cdef struct BoundedNode:
    float threshold
    int32_t feature
    uint32_t child
    uint32_t bounds

cdef class StoppingRule:
    cdef readonly int kind
    cdef readonly double low, high, guard, width, divisor
    cdef readonly bint is_exponential
    cdef readonly int order
    cdef readonly Size look_ahead

cdef class BoundedTrees(Trees):
    cdef const BoundedNode[::1] node
    cdef Ints origin
    cdef Doubles share_left
    cdef Ints bounds
    cdef readonly Size n_columns
    cdef Ints direction
    cdef Longs2 base
    cdef readonly Size n_directions, n_features
    cdef readonly double scale

cdef class State:
    cdef readonly Size n_features, n_places
    cdef OutDoubles row
    cdef OutFloats single
    # What `copy_state` copies.
    cdef OutFlags block
    cdef OutFlags known, acquired, is_available
    cdef OutLongs node
    cdef OutInts low, high
    cdef OutWords side_bounds
    cdef OutLongs span
    cdef OutLongs n_window
    cdef OutInts window_feature
    cdef OutLongs window_node, window_need
    cdef OutDoubles window_share
    cdef OutMarks marks
    cdef OutLongs least, most
    cdef OutLongs n_waiting, need
    # Result of `run`.
    cdef Size label, why, source, n_acquired
    cdef OutInts order
    cdef OutDoubles scores
    cdef OutDoubles2 final_bounds
    cdef object known_array, score_array, bound_array
    # Scratch memory.
    cdef OutLongs due, moved, cursor, active, queue
    cdef Size n_queued
    cdef OutDoubles queue_share
    cdef OutInts fresh_low, fresh_high
    cdef OutLongs gain
    cdef OutInts bundle

cdef void copy_state(State origin, State to) noexcept nogil
cdef bint waits(State state) noexcept nogil
cdef void set_values(Doubles row, State state) noexcept nogil
cdef double round_to_single(double x) noexcept nogil
