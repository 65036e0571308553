"""The one door to heavy imports.

Every process imports the importers, for their names and options; numba's compiler, pandas and Apache Arrow are
wanted only when a file is read. So modules ask here, at the moment of use, and import neither at their top.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["httpx", "id_kernels", "number_kernels", "pandas", "parquet", "scale_kernels", "section_kernels"]


def number_kernels() -> ModuleType:
    """Compiled reading of tables of numbers (`catalog.importers.kernels.numbers`)."""
    return import_module("catalog.importers.kernels.numbers")


def id_kernels() -> ModuleType:
    """Compiled look-ups of ids that are numbers (`catalog.importers.kernels.ids`)."""
    return import_module("catalog.importers.kernels.ids")


def scale_kernels() -> ModuleType:
    """A compiled look at ratings (`catalog.importers.kernels.scales`)."""
    return import_module("catalog.importers.kernels.scales")


def section_kernels() -> ModuleType:
    """Compiled reading of ratings under headings (`catalog.importers.kernels.sections`)."""
    return import_module("catalog.importers.kernels.sections")


def parquet() -> ModuleType:
    """Parquet files (`pyarrow.parquet`)."""
    return import_module("pyarrow.parquet")


def pandas() -> ModuleType:
    """Delimited text by columns (`pandas`)."""
    return import_module("pandas")


def httpx() -> ModuleType:
    """Requests over HTTP (`httpx`)."""
    return import_module("httpx")
