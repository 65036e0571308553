"""Error codes: every refusal that the code can raise, with its message."""

from __future__ import annotations

import ast
from pathlib import Path

from django.conf import settings

from reference.commands import APPS
from reference.markdown import code, table

KINDS = ("ParallaxError", "NotAllowedInState", "ArtefactError", "StorageRefused")


def entries() -> str:
    """A table of every code with its message, and an ellipsis for what depends on the case."""
    files = [file for package in (*APPS, "core", "jobs") for file in Path(settings.BASE_DIR, package).rglob("*.py")]
    refusals = set()
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        match node:
            case ast.Call(func=ast.Name(id=kind), args=[ast.Constant(value=str(key)), message, *_]) if kind in KINDS:
                refusals.add((code(key), _text(message)))
    return table(("code", "message"), sorted(refusals))


def _text(message: ast.expr) -> str:
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    return "".join(str(part.value).replace("*", "\\*") if isinstance(part, ast.Constant) else "…" for part in parts)
