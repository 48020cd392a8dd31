from budgetprune.predictor.state_kernels cimport round_to_single
from budgetprune.utils.kernel_types cimport *
