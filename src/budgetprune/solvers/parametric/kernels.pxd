from budgetprune.utils.kernel_types cimport *

cdef enum:
    UNREACHED = 1073741824  # 2**30: height of blocks and pairs that cannot reach the sink

cdef struct Member:
    int32_t block
    uint32_t offset  # of the block's arc to the pair, from the block's first arc

# Members of a pair: a part of `member`.
cdef struct Listed:
    int64_t start
    int32_t n_suppliers  # members that send flow; they come first
    int32_t n_members

cdef class Network:
    # blocks
    cdef readonly Ints parent
    cdef OutInts first_child, next_sibling
    cdef readonly OutLongs arc_start, arc_stop, up, excess, room
    cdef readonly OutInts slice_of, height
    cdef OutLongs current
    cdef OutInts queue, left, at_height
    cdef OutFlags waiting
    # arcs
    cdef readonly OutInts arc_pair
    cdef readonly OutLongs flow
    # pairs
    cdef readonly Doubles price
    cdef readonly OutLongs load, capacity
    cdef readonly OutInts pair_height
    cdef OutInts marked
    cdef Listed[::1] listed
    cdef Member[::1] member

cdef void add_member(Network net, Size j, Size u, Size a) noexcept nogil
cpdef void set_level(Network net, Ints pairs, double level) noexcept nogil
cpdef bint discharge(Network net, Ints blocks, Size limit) noexcept nogil
