"""Types of the kernels' arguments, for type checkers and for kernels that run uncompiled.

Uncompiled, the names of numbers convert: `cython.cast(int32_t, x)` is `int(x)`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Size: TypeAlias = int
int8_t: TypeAlias = int
int16_t: TypeAlias = int
int32_t: TypeAlias = int
int64_t: TypeAlias = int
uint8_t: TypeAlias = int
uint16_t: TypeAlias = int
uint32_t: TypeAlias = int
uint64_t: TypeAlias = int

# Rows of features, in the precision that a forest reads.
Rows: TypeAlias = Any

# The same, written to.
OutRows: TypeAlias = Any

# Numbers of rows, in 16 or 32 bits.
RowNumbers: TypeAlias = Any

# Contiguous arrays that are only read, by type of their entries.
Flags: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
Shorts: TypeAlias = NDArray[np.int16]
Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint32]
Marks: TypeAlias = NDArray[np.uint64]
Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]
Flags2: TypeAlias = Flags
Bytes2: TypeAlias = NDArray[np.uint8]
Ints2: TypeAlias = Ints
Longs2: TypeAlias = Longs
Floats2: TypeAlias = Floats
Doubles2: TypeAlias = Doubles
Ints3: TypeAlias = Ints
Doubles3: TypeAlias = Doubles

# The same, that are written to.
OutFlags: TypeAlias = Flags
OutChars: TypeAlias = NDArray[np.int8]
OutShorts: TypeAlias = Shorts
OutInts: TypeAlias = Ints
OutLongs: TypeAlias = Longs
OutWords: TypeAlias = Words
OutMarks: TypeAlias = Marks
OutFloats: TypeAlias = Floats
OutDoubles: TypeAlias = Doubles
OutFlags2: TypeAlias = Flags
OutInts2: TypeAlias = Ints
OutLongs2: TypeAlias = Longs
OutMarks2: TypeAlias = Marks
OutFloats2: TypeAlias = Floats
OutDoubles2: TypeAlias = Doubles
OutInts3: TypeAlias = Ints
OutDoubles3: TypeAlias = Doubles

# The same, of any strides: a transposed array, for example.
OutStridedInts2: TypeAlias = Ints
