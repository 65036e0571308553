"""The one door to heavy imports.

A web process imports the registry to fill in forms and to rank; numba's compiler and scipy's linear algebra
take most of a second to import and are wanted only when a model is fitted or scores. So modules ask here,
at the moment of use, and import neither at their top. The libraries of `recommenders.adapters` come through the
same door; where one is missing, the registry has said so before.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = [
    "association_kernels",
    "asysvd_kernels",
    "ials_kernels",
    "implicit_als",
    "implicit_bpr",
    "implicit_nearest_neighbours",
    "krylov_kernels",
    "lenskit",
    "linalg",
    "nearest_rated_kernels",
    "neighbour_kernels",
    "pandas",
    "product_kernels",
    "ranking_kernels",
    "similarity_kernels",
    "user_neighbour_kernels",
]


def neighbour_kernels() -> ModuleType:
    """Compiled loops of the item-item models (`recommenders.kernels.neighbours`)."""
    return import_module("recommenders.kernels.neighbours")


def nearest_rated_kernels() -> ModuleType:
    """Compiled sums over the nearest of a profile's own items (`recommenders.kernels.nearest_rated`)."""
    return import_module("recommenders.kernels.nearest_rated")


def product_kernels() -> ModuleType:
    """Compiled sums over common raters (`recommenders.kernels.products`)."""
    return import_module("recommenders.kernels.products")


def similarity_kernels() -> ModuleType:
    """Compiled loops from sums to similarities (`recommenders.kernels.similarities`)."""
    return import_module("recommenders.kernels.similarities")


def ranking_kernels() -> ModuleType:
    """Compiled selection of the best items (`recommenders.kernels.ranking`)."""
    return import_module("recommenders.kernels.ranking")


def asysvd_kernels() -> ModuleType:
    """Compiled loops of AsySVD (`recommenders.kernels.asysvd`)."""
    return import_module("recommenders.kernels.asysvd")


def krylov_kernels() -> ModuleType:
    """Compiled products with blocks of vectors (`recommenders.kernels.krylov`)."""
    return import_module("recommenders.kernels.krylov")


def linalg() -> ModuleType:
    """Dense linear algebra (`scipy.linalg`)."""
    return import_module("scipy.linalg")


def association_kernels() -> ModuleType:
    """Compiled loops of the conditional probabilities (`recommenders.kernels.association`)."""
    return import_module("recommenders.kernels.association")


def ials_kernels() -> ModuleType:
    """Compiled loops of implicit alternating least squares (`recommenders.kernels.ials`)."""
    return import_module("recommenders.kernels.ials")


def user_neighbour_kernels() -> ModuleType:
    """Compiled loops of the user neighbourhoods (`recommenders.kernels.user_neighbours`)."""
    return import_module("recommenders.kernels.user_neighbours")


def implicit_als() -> ModuleType:
    """Alternating least squares of the library implicit (`implicit.als`)."""
    return import_module("implicit.als")


def implicit_bpr() -> ModuleType:
    """Bayesian personalised ranking of the library implicit (`implicit.bpr`)."""
    return import_module("implicit.bpr")


def implicit_nearest_neighbours() -> ModuleType:
    """Item-item models of the library implicit (`implicit.nearest_neighbours`)."""
    return import_module("implicit.nearest_neighbours")


def pandas() -> ModuleType:
    """Data frames (`pandas`), which LensKit is given its data in."""
    return import_module("pandas")


def lenskit(module: str) -> ModuleType:
    """A module of the library LensKit, such as ``als`` (`lenskit.als`)."""
    return import_module(f"lenskit.{module}")
