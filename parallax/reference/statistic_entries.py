"""Statistical procedures: the texts of `inference`, read from its sources without importing it."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

import inference
from parallax.reference.markdown import from_docstring

FOLDER = Path(inference.__path__[0])


@lru_cache(maxsize=1)
def procedures() -> dict[str, tuple[str, dict[str, str]]]:
    """For each module with procedures: its text, and the texts of its public functions by name."""
    modules = {}
    for file in sorted(FOLDER.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        functions = {
            node.name: ast.get_docstring(node) or ""
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        }
        if functions:
            modules[file.stem] = (ast.get_docstring(tree) or "", functions)
    return modules


def entries() -> str:
    """Every procedure by module."""
    parts = []
    for module, (text, functions) in procedures().items():
        parts += [f"## inference.{module}", from_docstring(text)]
        parts += [f"### {name}\n\n{from_docstring(docstring)}" for name, docstring in functions.items()]
    return "\n\n".join(parts)
