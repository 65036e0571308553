"""Python API: the docstrings of the algorithms and metrics, which Sphinx reads."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import recommenders
from evaluation import metrics
from recommenders import testing
from reference.markdown import autodoc


def entries() -> str:
    """Every module with its public functions and classes."""
    return "\n\n".join(map(documented, (recommenders, testing, metrics)))


def documented(package: ModuleType) -> str:
    """The public modules of a package."""
    names = sorted(f"{package.__name__}.{file.stem}" for file in Path(package.__path__[0]).glob("[!_]*.py"))
    return "\n\n".join(f"## {name}\n\n{autodoc(f'automodule:: {name}', ':members:')}" for name in names)
