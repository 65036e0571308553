"""Threads of the numeric libraries: an input of every model and run, because they affect the last bits of results."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from core.provenance import versions
from recommenders import registry
from recommenders.threads import using


@contextmanager
def numeric_threads(n: int) -> Iterator[None]:
    """Limit the linear algebra libraries of this process and its own compiled loops to `n` threads."""
    # The limit applies only to loaded libraries, so those that fits use are loaded first.
    import_module("scipy.linalg")
    with threadpool_limits(limits=n), using(n):
        yield


def load_kernels(algorithm: str) -> None:
    """Load the compiled loops or the library of an algorithm, if any, so that measured times do not include loading.

    Our own loops are compiled once per machine, which takes some seconds, and cached afterwards.
    """
    for module in registry.algorithm(algorithm).preloaded:
        import_module(module)


def kernel_modules() -> Iterator[str]:
    """The names of all modules of compiled loops."""
    for package in ("recommenders.kernels", "catalog.importers.kernels"):
        for module in sorted(module.name for module in pkgutil.iter_modules(import_module(package).__path__)):
            yield f"{package}.{module}"
    yield "evaluation.protocols.kernels"


def compile_kernels() -> Iterator[str]:
    """Compile every loop that is not in the cache yet, yielding the name of each module when done.

    Importing a module of loops compiles it, because the loops have explicit signatures.
    """
    for module in kernel_modules():
        import_module(module)
        yield module


def environment() -> dict[str, str]:
    """Versions of code and libraries, and the processor type that the linear algebra was compiled for."""
    import_module("scipy.linalg")
    kinds = {info.get("architecture", "") for info in threadpool_info() if info["user_api"] == "blas"}
    return {**versions(), "blas": ", ".join(sorted(filter(None, kinds))) or "unknown"}
