"""How many threads numeric libraries use: an input of every model and run, since it changes last bits."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

import catalog.importers.kernels
import recommenders.kernels
from core.provenance import versions
from evaluation.protocols import cases
from recommenders import lazy
from recommenders.threads import using


@contextmanager
def numeric_threads(n: int) -> Iterator[None]:
    """Hold the linear algebra libraries of this process, and its own compiled loops, to `n` threads."""
    # A library that is loaded later would not know of the limit, so those that fits use are loaded first.
    lazy.linalg()
    with threadpool_limits(limits=n), using(n):
        yield


KERNELS: dict[str, tuple[Callable[[], object], ...]] = {
    "corngr": (lazy.neighbour_kernels, lazy.nearest_rated_kernels, lazy.product_kernels, lazy.similarity_kernels),
    "nncosngr": (lazy.neighbour_kernels, lazy.nearest_rated_kernels, lazy.product_kernels, lazy.similarity_kernels),
    "puresvd": (lazy.product_kernels, lazy.krylov_kernels),
    "lsa": (lazy.krylov_kernels,),
    "asysvd": (lazy.asysvd_kernels,),
    "itemitem": (lazy.association_kernels, lazy.product_kernels),
    "expected-utility": (lazy.association_kernels, lazy.product_kernels),  # of its usual scorer
    "ease": (lazy.product_kernels,),
    "ials": (lazy.ials_kernels,),
    "userknn-pearson": (lazy.user_neighbour_kernels,),
    "userknn-cosine": (lazy.user_neighbour_kernels,),
    "implicit-als": (lazy.implicit_als,),
    "implicit-bpr": (lazy.implicit_bpr,),
    "implicit-cosine": (lazy.implicit_nearest_neighbours,),
    "lenskit-als": (partial(lazy.lenskit, "als"),),
    "lenskit-biasedmf": (partial(lazy.lenskit, "als"),),
    "lenskit-itemknn": (partial(lazy.lenskit, "knn"),),
}


def load_kernels(algorithm: str) -> None:
    """Load the compiled loops or the library of an algorithm, if it has any, so that no measured time holds that.

    Our loops are compiled once on a machine, which takes some seconds, and read from the cache after that.
    """
    for load in KERNELS.get(algorithm, ()):
        load()


def compile_kernels() -> Iterator[str]:
    """Compile every loop of ours that is not in the cache yet, and yield each one's name when it is done.

    Importing a module of loops compiles it, since their types are given.
    """
    for package in (recommenders.kernels, catalog.importers.kernels):
        for module in sorted(module.name for module in pkgutil.iter_modules(package.__path__)):
            importlib.import_module(f"{package.__name__}.{module}")
            yield f"{package.__name__}.{module}"
    cases.kernels()
    yield "evaluation.protocols.kernels"


def environment() -> dict[str, str]:
    """Versions of code and libraries, and the processor type that the linear algebra was compiled for."""
    lazy.linalg()
    kinds = {info.get("architecture", "") for info in threadpool_info() if info["user_api"] == "blas"}
    return {**versions(), "blas": ", ".join(sorted(filter(None, kinds))) or "unknown"}
