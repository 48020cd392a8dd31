from budgetprune.utils.kernel_types cimport *

cdef enum:
    SPACE = 32
    QUOTE = 34
    COMMA = 44
    OPEN_LIST = 91
    BACKSLASH = 92
    CLOSE_LIST = 93
    OPEN_OBJECT = 123
    CLOSE_OBJECT = 125
