"""Python API: the docstrings of the packages without a framework, which Sphinx reads."""

from __future__ import annotations

from pathlib import Path

import inference
import recommenders
from evaluation import metrics
from recommenders import testing
from reference.markdown import autodoc

MODULES = [
    f"{package.__name__}.{file.stem}"
    for package in (recommenders, testing, metrics, inference)
    for file in sorted(Path(package.__path__[0]).glob("[!_]*.py"))
]


def entries() -> str:
    """Every module with its public functions and classes."""
    return "\n\n".join(f"## {module}\n\n{autodoc(f'automodule:: {module}', ':members:')}" for module in MODULES)
