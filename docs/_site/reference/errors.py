"""Error codes: every refusal that the code can raise, with its message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import core.errors
from core.errors import ParallaxError
from reference.markdown import code, table

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("accounts", "analysis", "catalog", "core", "evaluation", "jobs", "parallax", "studies")
KINDS = {name for name, kind in vars(core.errors).items() if isinstance(kind, type) and issubclass(kind, ParallaxError)}


def entries() -> str:
    """A table of every code with its message; a dotted ellipsis stands for what depends on the case."""
    messages = sorted({pair for package in PACKAGES for file in (ROOT / package).rglob("*.py") for pair in refusals(file)})
    return table(("code", "message"), ((code(name), message) for name, message in messages))


def refusals(file: Path) -> Iterator[tuple[str, str]]:
    """The codes and messages of the refusals in a file whose code is written out."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS and len(node.args) > 1:
            name = node.args[0]
            if isinstance(name, ast.Constant) and re.fullmatch(r"[a-z_]+\.[a-z_.]+", str(name.value)):
                yield str(name.value), _text(node.args[1])


def _text(message: ast.expr) -> str:
    if isinstance(message, ast.Constant):
        return re.sub(r"([<*])", r"\\\1", str(message.value))
    if isinstance(message, ast.JoinedStr):
        return re.sub(r"(… ?)+", "… ", "".join(map(_text, message.values))).strip()
    return "…"
