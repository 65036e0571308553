"""Statistical procedures: the docstrings of `inference`, which Sphinx reads."""

from __future__ import annotations

from pathlib import Path

import inference
from reference.markdown import autodoc

MODULES = sorted(f"inference.{file.stem}" for file in Path(inference.__path__[0]).glob("[!_]*.py"))


def entries() -> str:
    """Every module with its public functions and results."""
    return "\n\n".join(f"## {module}\n\n{autodoc(f'automodule:: {module}', ':members:')}" for module in MODULES)
