"""The plain Python of compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def interpreted_of(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that Numba compiled, or `kernel` itself where `NUMBA_DISABLE_JIT` keeps it from compiling."""
    return getattr(kernel, "py_func", kernel)
