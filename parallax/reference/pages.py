"""Pages of `docs/` whose entries are generated: a comment names the entries that take its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from parallax.reference import (
    algorithm_entries,
    column_entries,
    command_entries,
    endpoint_entries,
    layout_entries,
    licence_entries,
    metric_entries,
    question_entries,
    setting_entries,
    split_entries,
    statistic_entries,
)

ENTRIES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "algorithms": algorithm_entries.entries,
        "columns": column_entries.entries,
        "commands": command_entries.entries,
        "endpoints": endpoint_entries.entries,
        "formats": layout_entries.entries,
        "licences": licence_entries.entries,
        "metrics": metric_entries.entries,
        "questions": question_entries.entries,
        "settings": setting_entries.entries,
        "splits": split_entries.entries,
        "statistics": statistic_entries.entries,
    }
)
MARKER = re.compile(r"<!-- entries: ([a-z]+) -->")


def with_entries(markdown: str) -> str:
    """Return a page with its generated entries.

    Examples
    --------
    >>> with_entries("# A page")
    '# A page'
    """
    return MARKER.sub(lambda marker: entries_of(marker[1]), markdown)


@lru_cache(maxsize=len(ENTRIES))
def entries_of(name: str) -> str:
    """The entries of one page, generated once."""
    return ENTRIES[name]()
