"""Lines of a body that arrives in parts, in bounded memory."""

from __future__ import annotations

from budgetprune.service.bodies import BodyMemory
from budgetprune.service.errors import BUSY, TOO_LARGE, RefusedError

NEWLINE = b"\n"


class LineSplitter:
    """Split data into lines. A line that is too long is skipped, and replaced by an error.

    Parameters
    ----------
    limit : int
        Bytes of a line.
    memory : BodyMemory
        Limits the bytes of all lines of which only a part has arrived.
    """

    def __init__(self, limit: int, memory: BodyMemory) -> None:
        self._limit, self._memory = limit, memory
        self._data, self._at = b"", 0
        self._parts: list[bytes] = []  # of the line that has begun
        self._size = 0
        self._error: RefusedError | None = None  # of that line; its bytes are not kept
        self._is_over = False
        self.number = 0  # of the line that was returned last, from 1 on

    def feed(self, data: bytes) -> None:
        """Add data, once `next_line` has returned None."""
        self._data, self._at = data, 0

    def end(self) -> None:
        """Note that no more data comes: what is left is a line, too."""
        self._is_over = True

    def next_line(self) -> bytes | RefusedError | None:
        """Return the next line without its end, or the error instead; None if more data is needed."""
        end = self._data.find(NEWLINE, self._at)
        if end >= 0:
            self._keep(self._data[self._at : end])
            self._at = end + 1
            return self._take()
        self._keep(self._data[self._at :])
        self._data, self._at = b"", 0
        if self._is_over and (self._size or self._error is not None):
            return self._take()
        return None

    def close(self) -> None:
        """Release the memory of the line that has begun."""
        self._memory.release(self._size)
        self._parts, self._size = [], 0

    def _keep(self, part: bytes) -> None:
        if self._error is not None or not part:
            return
        if self._size + len(part) > self._limit:
            message = f"the line has more than {self._limit} bytes, which is the limit."
            self._error = RefusedError(TOO_LARGE, message)
        elif not self._memory.reserve(len(part)):
            message = "other requests take all memory for bodies; send this line again."
            self._error = RefusedError(BUSY, message)
        else:
            self._parts.append(part)
            self._size += len(part)
            return
        self.close()

    def _take(self) -> bytes | RefusedError:
        self.number += 1
        line = self._error or b"".join(self._parts)
        self.close()
        self._error = None
        return line
