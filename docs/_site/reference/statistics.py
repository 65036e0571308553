"""Statistical procedures: the docstrings of `inference`, which Sphinx reads."""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction
from pathlib import Path

import inference
from reference.markdown import autodoc

MODULES = sorted(f"inference.{file.stem}" for file in Path(inference.__path__[0]).glob("[!_]*.py"))


def undocumented(name: str) -> list[str]:
    """The public functions of a module that have no docstring, or the module that has none."""
    module = import_module(name)
    own = {key: each for key, each in vars(module).items() if isfunction(each) and each.__module__ == name}
    nameless = [key for key, each in own.items() if not key.startswith("_") and not each.__doc__]
    return nameless if module.__doc__ else [name, *nameless]


def entries() -> str:
    """Every module with its public functions and results.

    Raises ValueError if one has no docstring; Sphinx would leave it out.
    """
    if missing := [key for module in MODULES for key in undocumented(module)]:
        raise ValueError(f"No docstring: {', '.join(missing)}.")
    return "\n\n".join(f"## {module}\n\n{autodoc(f'automodule:: {module}', ':members:')}" for module in MODULES)
