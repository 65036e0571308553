"""Search over the pages of the documentation: a full-text index of their sections, in memory."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache

from django.urls import reverse

from parallax.shell.documentation import FOLDER, anchor_of, documentation_paths
from parallax.shell.search import PER_KIND, Match

# Headings count for more than texts. The list of all pages, and decisions of the project's developers, answer nothing.
_QUERY = """SELECT path, anchor, name, snippet(sections, 5, '', '', '…', 32) FROM sections
    WHERE sections MATCH ? ORDER BY bm25(sections, 0, 0, 0, 8.0, 5.0, 1.0)"""
_LEFT_OUT = ("README.md", "adr/")
# Words of questions, which would find the few headings that have them.
_COMMON = re.compile(
    r"\b(an?|and|are|be|can|do(es)?|for|from|have|how|i|in|is|it|me|my|need|of|on|or|should|that|the|there|this|to|use(d)?"
    r"|using|want|was|we|what|when|where|which|who|why|with|work|would|you|your|parallax)\b"
)


def search_documentation(query: str) -> list[Match]:
    """Return the pages with most of the words of a query, best first, each with its best section and an excerpt."""
    words = re.findall(r"\w+", _COMMON.sub(" ", query.lower()))
    best: dict[str, Match] = {}
    for path, anchor, name, excerpt in _index().execute(_QUERY, [" OR ".join(f'"{word}"' for word in words) or '""']):
        best.setdefault(path, Match(name, excerpt, reverse("help", args=[path]) + anchor))
    return list(best.values())[:PER_KIND]


@lru_cache(maxsize=1)
def _index() -> sqlite3.Connection:
    index = sqlite3.connect(":memory:", check_same_thread=False)
    index.execute(
        "CREATE VIRTUAL TABLE sections USING fts5(path UNINDEXED, anchor UNINDEXED, name UNINDEXED, "
        "title, heading, text, tokenize = 'porter')"
    )
    for path in sorted(path for path in documentation_paths() if not path.startswith(_LEFT_OUT)):
        beginning, *sections = re.split(r"^##+ ", (FOLDER / path).read_text(encoding="utf-8"), flags=re.MULTILINE)
        title, text = _words(beginning.removeprefix("# "))
        # The first section alone has the title, so that a search for its words finds the beginning of the page.
        rows = [(path, "", title, title, "", text)]
        for heading, text in map(_words, sections):
            rows.append((path, f"#{anchor_of(heading)}", f"{title}: {heading}", "", heading, text))
        index.executemany("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)", rows)
    return index


def _words(section: str) -> tuple[str, str]:
    heading, _, text = re.sub(r"\]\([^)]*\)|!?\[|[`*|#]|<[^>]+>", "", section).partition("\n")
    return heading.strip(), " ".join(text.split())
