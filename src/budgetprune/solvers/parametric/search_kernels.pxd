from budgetprune.solvers.parametric.kernels cimport UNREACHED, Network, discharge
from budgetprune.utils.kernel_types cimport *

cpdef Size search(Network net, Ints blocks, Ints pairs) noexcept nogil
