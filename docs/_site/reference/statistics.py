"""Statistical procedures: the docstrings of `inference`, which Sphinx reads."""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction
from pathlib import Path
from types import ModuleType

import inference
from reference.markdown import autodoc


def modules_of(package: ModuleType) -> list[str]:
    """The names of a package's public modules, in alphabetical order."""
    return sorted(f"{package.__name__}.{file.stem}" for file in Path(package.__path__[0]).glob("[!_]*.py"))


MODULES = modules_of(inference)


def undocumented(name: str) -> list[str]:
    """The public functions of a module that have no docstring, or the module that has none."""
    module = import_module(name)
    own = {key: each for key, each in vars(module).items() if isfunction(each) and each.__module__ == name}
    nameless = [key for key, each in own.items() if not key.startswith("_") and not each.__doc__]
    return nameless if module.__doc__ else [name, *nameless]


def entries() -> str:
    """Every module with its public functions and results."""
    return documented(MODULES)


def documented(modules: list[str]) -> str:
    """Modules with their public functions and classes.

    Raises ValueError if one has no docstring; Sphinx would leave it out.
    """
    if missing := [key for module in modules for key in undocumented(module)]:
        raise ValueError(f"No docstring: {', '.join(missing)}.")
    return "\n\n".join(f"## {module}\n\n{autodoc(f'automodule:: {module}', ':members:')}" for module in modules)
