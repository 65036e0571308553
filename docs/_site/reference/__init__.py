"""Lists of the reference pages, generated from the code: a comment in a page names the module whose entries it holds.

Each module returns its entries as MyST Markdown. Texts that are docstrings are left to sphinx.ext.autodoc.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

MARKER = re.compile(r"<!-- entries: ([a-z]+) -->")


def with_entries(markdown: str) -> str:
    """Return a page with its generated entries."""
    return MARKER.sub(lambda marker: entries_of(marker[1]), markdown)


@cache
def entries_of(name: str) -> str:
    """The entries of one page, generated once."""
    return str(import_module(f"reference.{name}").entries())
