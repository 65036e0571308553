"""Converts catalogue titles ("Matrix, The (1999)") to natural ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Articles that catalogues move to the end of a title. Several languages share a form.
ARTICLES = frozenset(
    article
    for language in (
        ("the", "a", "an"),
        ("le", "la", "les", "l'", "un", "une"),
        ("il", "lo", "gli", "i", "uno", "una"),
        ("el", "los", "las"),
        ("o", "os", "as"),
        ("der", "die", "das", "ein", "eine"),
        ("de", "het", "een"),
        ("den", "det", "en", "et"),
    )
    for article in language
)
_YEAR = re.compile(r"\s*\((\d{4})(?:\s*[–-]\s*\d{0,4})?\)\s*$")
_IN_PARENTHESES = re.compile(r"\s+\(([^()]+)\)\s*$")
_ALSO_KNOWN_AS = re.compile(r"^a\.?k\.?a\.?\s+", re.IGNORECASE)
_GOES_ON = re.compile(r"(:|\bor)$", re.IGNORECASE)  # "Birdman: Or (The Unexpected Virtue of Ignorance)"


@dataclass(frozen=True, slots=True)
class Title:
    """The parts of a title."""

    text: str  # as people say it
    year: int | None  # the first, of a span of years
    aliases: tuple[str, ...]  # other titles that stood behind it in parentheses, as people say them


def natural(title: str) -> str:
    """A title with its article in front.

    Examples
    --------
    >>> natural("Matrix, The"), natural("Avventura, L'"), natural("Lust, Caution")
    ('The Matrix', "L'Avventura", 'Lust, Caution')
    """
    title = " ".join(title.split())
    front, comma, last = title.rpartition(", ")
    article = last.replace("’", "'")
    if not comma or article.lower() not in ARTICLES:
        return title
    return f"{last}{'' if article.endswith(chr(39)) else ' '}{front}"


def parse_title(title: str) -> Title:
    """Split a title into the natural title, its year, and other titles.

    Examples
    --------
    >>> parse_title("City of Lost Children, The (Cité des enfants perdus, La) (1995)")
    Title(text='The City of Lost Children', year=1995, aliases=('La Cité des enfants perdus',))
    >>> parse_title("Seven (a.k.a. Se7en) (1995)").aliases
    ('Se7en',)
    """
    rest = title.strip()
    year = None
    match = _YEAR.search(rest)
    if match is not None and match.start() > 0:
        year = int(match[1])
        rest = rest[: match.start()]
    aliases_read: list[str] = []
    match = _IN_PARENTHESES.search(rest)
    while match is not None and not _GOES_ON.search(rest[: match.start()]):
        aliases_read.insert(0, natural(_ALSO_KNOWN_AS.sub("", match[1])))
        rest = rest[: match.start()]
        match = _IN_PARENTHESES.search(rest)
    text = natural(rest)
    aliases = tuple(dict.fromkeys(alias for alias in aliases_read if alias and alias != text))
    return Title(text=text, year=year, aliases=aliases)
