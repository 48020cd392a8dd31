from budgetprune.utils.kernel_types cimport *
from budgetprune.utils.special_kernels cimport logistic

cdef class Shares:
    cdef double guard, divisor

cdef class ScorePair:
    cdef double first, second, least_sum, most_sum
