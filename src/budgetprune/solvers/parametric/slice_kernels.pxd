from budgetprune.solvers.parametric.kernels cimport UNREACHED, Network, add_member
from budgetprune.utils.kernel_types cimport *
