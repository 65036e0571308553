"""Search over the pages of the documentation: a full-text index of their sections, in memory."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache

from django.urls import reverse

from parallax.shell.documentation import FOLDER, anchor_of, documentation_paths
from parallax.shell.search import Match

MOST_PAGES = 10
MOST_SECTIONS = 200  # of which the best of each page is shown
# A word counts for more in the heading of a section or the title of its page than in its text.
RANKED = "bm25(sections, 0, 0, 0, 8.0, 5.0, 1.0)"
_SECTION = re.compile(r"^(?=##+ )", re.MULTILINE)
_MARKUP = re.compile(r"\]\([^)]*\)|!?\[|[`*|#]|<[^>]+>")
_LEFT_OUT = ("README.md", "adr/")  # the list of all pages, and decisions of the project's developers
# Words of questions, which would find the few headings that have them.
_COMMON = frozenset(
    "a an and are be can do does for from have how i in is it me my need of on or should that the there this to use used "
    "using want was we what when where which who why with work would you your parallax".split()
)


def search_documentation(query: str) -> list[Match]:
    """Return the pages with most of the words of a query, best first, each with its best section and an excerpt."""
    words = [word for word in re.findall(r"\w+", query.lower()) if word not in _COMMON]
    rows = _index().execute(
        f"SELECT path, anchor, page, heading, snippet(sections, 5, '', '', '…', 32) FROM sections "  # noqa: S608
        f"WHERE sections MATCH ? ORDER BY {RANKED} LIMIT {MOST_SECTIONS}",
        [" OR ".join(f'"{word}"' for word in words) or '""'],
    )
    best: dict[str, Match] = {}
    for path, anchor, page, heading, excerpt in rows.fetchall():
        name = f"{page}: {heading}" if heading else page
        best.setdefault(path, Match(name, excerpt, reverse("help", args=[path]) + (anchor and f"#{anchor}")))
    return list(best.values())[:MOST_PAGES]


@lru_cache(maxsize=1)
def _index() -> sqlite3.Connection:
    index = sqlite3.connect(":memory:", check_same_thread=False)
    index.execute(
        "CREATE VIRTUAL TABLE sections USING fts5("
        "path UNINDEXED, anchor UNINDEXED, page UNINDEXED, title, heading, text, tokenize = 'porter unicode61')"
    )
    for path in sorted(path for path in documentation_paths() if not path.startswith(_LEFT_OUT)):
        page = ""
        for part in _SECTION.split((FOLDER / path).read_text(encoding="utf-8")):
            heading, _, text = _MARKUP.sub("", part).partition("\n")
            # The first section alone has the title, so that a search for its words finds the beginning of the page.
            title, own = ("", heading.strip()) if page else (heading.strip(), "")
            page = page or title
            row = (path, anchor_of(own), page, title, own, " ".join(text.split()))
            index.execute("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)", row)
    return index
