from budgetprune.utils.kernel_types cimport *
from budgetprune.utils.special_kernels cimport logistic
