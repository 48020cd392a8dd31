from budgetprune.utils.kernel_types cimport *

cdef double logistic(double x) noexcept nogil
