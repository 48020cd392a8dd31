from budgetprune.problem.pair_kernels cimport UsesBySource
from budgetprune.utils.kernel_types cimport *


cdef class Links:
    cdef Size root, end, size
    cdef OutLongs place, n_leaves, subtree_end
    cdef OutDoubles branch_risk, least
    cdef OutFlags is_cut
