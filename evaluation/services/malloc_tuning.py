"""glibc malloc settings that return freed memory to the operating system, where other workers can use it.

By default glibc keeps freed blocks for reuse, and raises its threshold with the size of the blocks it has seen: a
worker that has built one set of cases would hold on to a hundred megabytes. Other C libraries do not do this.
"""

from __future__ import annotations

import ctypes
import sys

LARGE = 1 << 20  # bytes: arrays of at least this size are returned as soon as they are freed
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of mallopt(3)
ARENAS = 2  # otherwise each thread of a web process keeps what its largest page needed


def return_large_blocks() -> None:
    """Make this process return every large block to the system when it is freed, and let threads share the rest."""
    if libc := _glibc():
        libc.mallopt(M_MMAP_THRESHOLD, LARGE)
        libc.mallopt(M_ARENA_MAX, ARENAS)


def release_free_memory() -> None:
    """Return free memory of small blocks to the system now."""
    if libc := _glibc():
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") else None
