"""What the C library does with memory that a worker has freed: it goes back to the system, for the next worker's use.

glibc keeps freed blocks for later, and the larger the blocks it has seen freed, the larger those it keeps: a worker
that has made one set of cases would hold a hundred megabytes for good. Other C libraries have no such habits.
"""

from __future__ import annotations

import ctypes
import sys

LARGE = 1 << 20  # bytes: arrays from this size on are given back the moment they are freed
M_MMAP_THRESHOLD = -3  # of mallopt(3)


def give_back_large_blocks() -> None:
    """From now on return every large block to the system as soon as it is freed; affects this process alone."""
    if libc := _glibc():
        libc.mallopt(M_MMAP_THRESHOLD, LARGE)


def trim() -> None:
    """Return what small blocks have left free at once."""
    if libc := _glibc():
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") else None
