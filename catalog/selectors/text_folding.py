"""Folds text for comparison: without case, accents, punctuation and articles. Pure."""

from __future__ import annotations

import re
import unicodedata

# Letters that Unicode does not take apart into a base letter and a mark.
_UNDIVIDED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "&": " and "}
)
_APOSTROPHES = re.compile("['’‘ʼ`´]")
_NOT_A_WORD = re.compile(r"[\W_]+")

# Articles of the languages that film titles come in, folded. At the start of a title only those count that
# seldom are something else there ("Die Hard", "As Good as It Gets", "O Brother, Where Art Thou?", "I, Robot").
_AT_THE_START = "the a an le la les un une des il lo gli uno una der das ein eine el los las unos unas uma det het ett"
_ONLY_AT_THE_END = "l i die de den en o os as um"
_BETWEEN = "and of in on at to with by for und et y e di da von van d"
_ARTICLES = frozenset(_AT_THE_START.split())
_ARTICLES_AT_END = _ARTICLES.union(_ONLY_AT_THE_END.split())
_ELIDED = re.compile("^(?:l|d|un)['’‘ʼ`´](?=\\w)", re.IGNORECASE)
_TRAILING = re.compile(r"^(?P<title>.+?),\s*(?P<article>[^\W\d_]+['’‘ʼ`´]?)(?P<rest>\s*\(.*\))?\s*$")

# Words that a query may hold without the title holding them.
LITTLE_WORDS = _ARTICLES_AT_END.union(_BETWEEN.split())


def fold(text: str) -> str:
    """The text in lower case without accents, apostrophes and punctuation, its words one space apart.

    Examples
    --------
    >>> fold("Amélie  Poulain: L'Été!")
    'amelie poulain lete'
    """
    bare = text.casefold()
    if bare.isascii() and bare.isalnum():  # one word, such as an id used as a title
        return bare
    if not bare.isascii():  # most titles are, and have no accents to take off
        bare = "".join(letter for letter in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(letter))
    bare = bare.translate(_UNDIVIDED)
    return _NOT_A_WORD.sub(" ", _APOSTROPHES.sub("", bare)).strip()


def words(text: str) -> list[str]:
    """The folded words of the text, in order.

    Examples
    --------
    >>> words("Schindler's List (1993)")
    ['schindlers', 'list', '1993']
    """
    return fold(text).split()


def without_article(title: str) -> str:
    """The folded title without an article at its start ("The Matrix") or at its end ("Matrix, The").

    A title that is nothing but an article keeps it.

    Examples
    --------
    >>> without_article("The Matrix"), without_article("Lord of the Rings, The"), without_article("L'Avventura")
    ('matrix', 'lord of the rings', 'avventura')
    >>> without_article("Los"), without_article("Die Hard"), without_article("Welle, Die")
    ('los', 'die hard', 'welle')
    """
    bare = _ELIDED.sub("", title.strip())
    trailing = _TRAILING.match(bare) if "," in bare else None
    if trailing and fold(trailing["article"]) in _ARTICLES_AT_END:
        return fold(trailing["title"] + (trailing["rest"] or ""))
    folded = fold(bare)
    first, _, rest = folded.partition(" ")
    return rest if rest and first in _ARTICLES else folded
