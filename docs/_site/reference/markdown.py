"""Tables, code and docstrings in MyST Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; line breaks in cells become spaces, and vertical bars are escaped."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split())) or "—"


def code(text: str) -> str:
    """Return text as code; nothing for an empty text."""
    return f"`{text}`" if text else ""


def autodoc(directive: str, *options: str) -> str:
    """Return a directive of sphinx.ext.autodoc with its options."""
    return "\n".join(["```{eval-rst}", f".. {directive}", *(f"   {option}" for option in options), "```"])
