"""How many threads numeric libraries use: an input of every model and run, since it changes last bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from core.provenance import versions
from recommenders import lazy


@contextmanager
def numeric_threads(n: int) -> Iterator[None]:
    """Hold the linear algebra libraries of this process to `n` threads."""
    # A library that is loaded later would not know of the limit, so those that fits use are loaded first.
    lazy.linalg()
    lazy.sparse_linalg()
    with threadpool_limits(limits=n):
        yield


def load_kernels() -> None:
    """Load the compiled loops of the algorithms, so that no measured time holds their compilation.

    They are compiled once on a machine, which takes some ten seconds, and read from the cache after that.
    """
    lazy.neighbour_kernels()
    lazy.asysvd_kernels()


def environment() -> dict[str, str]:
    """Versions of code and libraries, and the processor type that the linear algebra was compiled for."""
    lazy.linalg()
    kinds = {info.get("architecture", "") for info in threadpool_info() if info["user_api"] == "blas"}
    return {**versions(), "blas": ", ".join(sorted(filter(None, kinds))) or "unknown"}
