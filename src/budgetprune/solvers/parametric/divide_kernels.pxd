from budgetprune.utils.kernel_types cimport *
