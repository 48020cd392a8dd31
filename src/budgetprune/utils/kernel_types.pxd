"""Types of the kernels' arguments: C names here, aliases for type checkers in `kernel_types.py`."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef Py_ssize_t Size

# Rows of features, in the precision that a forest reads.
ctypedef fused Rows:
    const float[:, ::1]
    const double[:, ::1]

# The same, written to.
ctypedef fused OutRows:
    float[:, ::1]
    double[:, ::1]

# Contiguous arrays that are only read, by type of their entries. Boolean arrays are bytes.
ctypedef const uint8_t[::1] Flags
ctypedef const uint8_t[::1] Bytes
ctypedef const int16_t[::1] Shorts
ctypedef const int32_t[::1] Ints
ctypedef const int64_t[::1] Longs
ctypedef const uint32_t[::1] Words
ctypedef const uint64_t[::1] Marks
ctypedef const float[::1] Floats
ctypedef const double[::1] Doubles
ctypedef const uint8_t[:, ::1] Flags2
ctypedef const uint8_t[:, ::1] Bytes2
ctypedef const int32_t[:, ::1] Ints2
ctypedef const int64_t[:, ::1] Longs2
ctypedef const float[:, ::1] Floats2
ctypedef const double[:, ::1] Doubles2
ctypedef const int32_t[:, :, ::1] Ints3
ctypedef const double[:, :, ::1] Doubles3

# The same, that are written to.
ctypedef uint8_t[::1] OutFlags
ctypedef int8_t[::1] OutChars
ctypedef int16_t[::1] OutShorts
ctypedef int32_t[::1] OutInts
ctypedef int64_t[::1] OutLongs
ctypedef uint32_t[::1] OutWords
ctypedef uint64_t[::1] OutMarks
ctypedef float[::1] OutFloats
ctypedef double[::1] OutDoubles
ctypedef uint8_t[:, ::1] OutFlags2
ctypedef int32_t[:, ::1] OutInts2
ctypedef int64_t[:, ::1] OutLongs2
ctypedef uint64_t[:, ::1] OutMarks2
ctypedef float[:, ::1] OutFloats2
ctypedef double[:, ::1] OutDoubles2
ctypedef int32_t[:, :, ::1] OutInts3
ctypedef double[:, :, ::1] OutDoubles3

# The same, of any strides: a transposed array, for example.
ctypedef int32_t[:, :] OutStridedInts2
