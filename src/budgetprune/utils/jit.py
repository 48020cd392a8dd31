"""Decorator of all kernels: `numba.njit` with an optional cache on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
from numba import prange

__all__ = ["njit", "prange"]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def njit(*, cache: bool = False, **options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a kernel with `numba.njit`, and cache it if a cache folder is writable.

    Numba refuses to decorate a function if neither ``__pycache__`` nor the user's cache folder nor
    ``NUMBA_CACHE_DIR`` can be written to, as in a read-only container. Such kernels are compiled once per
    process instead.

    Parameters
    ----------
    cache : whether compiled code is kept on disk for other processes, if that is possible
    **options : of `numba.njit`
    """

    def decorate(function: Kernel) -> Kernel:
        kernel: Any = numba.njit(**options)(function)
        if cache and hasattr(kernel, "enable_caching"):  # NUMBA_DISABLE_JIT returns the function itself
            with suppress(RuntimeError, OSError):
                kernel.enable_caching()
                kernel._cache = _TolerantCache(kernel._cache)
        return cast(Kernel, kernel)

    return decorate


class _TolerantCache:
    """Numba cache that skips caching on failure instead of failing the call.

    A folder that could be written to when the kernel was decorated may be full or read-only by its first
    call. Files in it may be damaged, belong to another user, or come from an older version: numba unpickles
    them before it compares their age, which fails if they refer to a class that has been renamed. Such files
    are replaced.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *key: Any) -> Any:
        with suppress(OSError):
            try:
                return self._cache.load_overload(*key)
            except OSError:
                raise
            except Exception:  # pickle does not limit what it raises
                self._cache.flush()
        return None

    def save_overload(self, *entry: Any) -> None:
        with suppress(OSError):
            self._cache.save_overload(*entry)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)
