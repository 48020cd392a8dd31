from budgetprune.forest.kernels cimport Trees, goes_left
from budgetprune.utils.kernel_types cimport *
