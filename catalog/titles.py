"""Titles as people say them."""

from __future__ import annotations

# Articles that catalogues move to the end of a title. Several languages share a form.
_ROMANCE_AND_ENGLISH = "the a an le la les l' un une il lo gli i uno una el los las o os as"
_GERMANIC = "der die das ein eine de het een den det en et"
_ARTICLES = frozenset(f"{_ROMANCE_AND_ENGLISH} {_GERMANIC}".split())


def natural(title: str) -> str:
    """A title with its article in front.

    Examples
    --------
    >>> natural("Matrix, The"), natural("Avventura, L'"), natural("Lust, Caution")
    ('The Matrix', "L'Avventura", 'Lust, Caution')
    """
    title = " ".join(title.split())
    front, _, last = title.rpartition(", ")
    article = last.replace("’", "'")
    if not front or article.lower() not in _ARTICLES:
        return title
    return f"{last}{'' if article.endswith(chr(39)) else ' '}{front}"
